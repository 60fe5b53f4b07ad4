/** The panel's root component and its context, loaded when the panel is first shown. */
import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { type IMarkdownOptions, ModelMarkdown } from '../../markdown/markdown';
import { showDiff } from '../../notebook/review/diff';
import type { IToolRenderers } from '../../tokens';
import type { Store } from '../store/store';
import { type IPanelContext, PanelContext } from './elements/context';
import { Panel } from './Panel';
import '../../../style/sidebar.css';

export interface IPanelOptions {
  store: Store;
  markdown: Omit<IMarkdownOptions, 'trans'>;
  renderers: IToolRenderers;
  slash: IPanelContext['slash'];
  trans: TranslationBundle;
  editors: IEditorServices;
  openNotebook: (path: string) => Promise<void>;
  openTable: IPanelContext['openTable'];
  fileUrl: (path: string) => Promise<string>;
}

export function Root(props: {
  options: IPanelOptions;
  /** Called after the first render. */
  ready: () => void;
}): JSX.Element {
  const { options, ready } = props;
  const context = React.useMemo(() => contextOf(options), [options]);
  React.useEffect(ready, [ready]);
  return (
    <PanelContext.Provider value={context}>
      <Panel />
    </PanelContext.Provider>
  );
}

function contextOf(options: IPanelOptions): IPanelContext {
  const { store, renderers, slash, trans, openNotebook, editors } = options;
  return {
    store,
    markdown: new ModelMarkdown({ ...options.markdown, trans }),
    renderers,
    slash,
    trans,
    openNotebook,
    openTable: options.openTable,
    files: {
      open: openNotebook,
      url: options.fileUrl
    },
    showSent: () => showSent(store, trans),
    showDiff: (host, diff) => showDiff(editors, host, diff),
    confirm: (...words) => confirm(...words, trans)
  };
}

async function showSent(store: Store, trans: TranslationBundle): Promise<void> {
  const request = await store.conversation.sent();
  if (request) {
    const { Sent } = await import('./Sent');
    await showDialog({
      title: trans.__('What was sent to the model'),
      body: ReactWidget.create(<Sent request={request} trans={trans} />),
      buttons: [Dialog.okButton({ label: trans.__('Close') })]
    });
  }
}

async function confirm(
  title: string,
  body: string,
  label: string,
  trans: TranslationBundle
): Promise<boolean> {
  const result = await showDialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label })
    ]
  });
  return result.button.accept;
}
