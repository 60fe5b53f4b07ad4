/**
 * An extension of another package, as a builder would make it: a container of module
 * federation. It takes the token and React from the page's shared modules.
 */
(() => {
  let shared;
  /** The module that the page shares under this name, in its only or its first version. */
  const load = async name => (await Object.values(shared[name])[0].get())();

  const extension = async () => {
    const { IToolRenderers } = await load('jupyter-codeinterp');
    const React = await load('react');
    const h = React.createElement;

    const activate = (app, renderers) => {
      const Words = ({ call }) =>
        h(
          'div',
          { className: 'words-card' },
          h('meter', { value: parseInt(call.result, 10), max: 10 }),
          h('span', null, call.result)
        );
      renderers.add('count_words', Words);
    };
    return {
      id: 'words-card:plugin',
      autoStart: true,
      requires: [IToolRenderers],
      activate
    };
  };

  globalThis._JUPYTERLAB ??= {};
  globalThis._JUPYTERLAB['words-card'] = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      const plugin = await extension();
      return () => ({ __esModule: true, default: plugin });
    }
  };
})();
