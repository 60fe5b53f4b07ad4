/** The sidebar as a Lab widget. */
import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import React from 'react';
import type { ModelMarkdown } from '../markdown/markdown';
import { showDiff } from '../notebook/review/diff';
import type { ISlashCommands, IToolRenderers } from '../tokens';
import { PanelContext } from './components/elements/context';
import { Panel } from './components/Panel';
import { Sent } from './components/Sent';
import { codeInterpreterIcon } from './icon';
import { elsewhere } from './store/panel-state';
import type { Store } from './store/store';

export const PANEL_ID = 'codeinterp-panel';

export class CodeInterpreterPanel extends ReactWidget {
  constructor(
    private _options: {
      store: Store;
      markdown: ModelMarkdown;
      renderers: IToolRenderers;
      slash: ISlashCommands;
      trans: TranslationBundle;
      editors: IEditorServices;
      openNotebook: (path: string) => Promise<void>;
      fileUrl: (path: string) => Promise<string>;
      fileText: (path: string) => Promise<string>;
    }
  ) {
    super();
    const { store, trans } = _options;
    this.id = PANEL_ID;
    this.addClass('jp-codeinterp-Panel');
    this.title.icon = codeInterpreterIcon;
    this.title.caption = trans.__('Code Interpreter');
    store.state.changed.connect(this._onState, this);
  }

  /** Bring the panel's text field to the person. */
  focusComposer(): void {
    this.node.querySelector('textarea')?.focus();
  }

  /** Unfold the list of models, or, as long as there is none, the connections. */
  openModels(): void {
    const picker = this.node.querySelector<HTMLElement>(
      '[aria-haspopup="listbox"][aria-expanded="false"]'
    );
    const { connections, state } = this._options.store;
    if (picker) {
      picker.click();
    } else if (!state.now.connecting) {
      connections.toggle();
    }
  }

  protected render(): JSX.Element {
    const {
      store,
      markdown,
      renderers,
      slash,
      trans,
      openNotebook,
      fileUrl,
      fileText,
      editors
    } = this._options;
    return (
      <PanelContext.Provider
        value={{
          store,
          markdown,
          renderers,
          slash,
          trans,
          openNotebook,
          files: { open: openNotebook, url: fileUrl, text: fileText },
          showSent: () => this._showSent(),
          showDiff: (host, diff) => showDiff(editors, host, diff),
          confirmDelete: title => this._confirmDelete(title)
        }}
      >
        <Panel />
      </PanelContext.Provider>
    );
  }

  protected onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.focusComposer();
  }

  protected onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    this._onLook();
  }

  protected onBeforeHide(msg: Message): void {
    super.onBeforeHide(msg);
    this._options.store.state.patch({ panelShown: false });
  }

  protected onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._onLook();
  }

  /** Somebody may look at it now: not where its side is still closed. */
  private _onLook(): void {
    const { setup, state } = this._options.store;
    state.patch({ panelShown: this.isVisible });
    if (this.isVisible) {
      void setup.loadModels();
    }
  }

  /**
   * The tab is marked while a conversation that is not shown waits or works, and from when a
   * turn ends out of view until somebody has looked.
   */
  private _onState(): void {
    const { now } = this._options.store.state;
    const others = elsewhere(now);
    const waits = others.some(({ waiting }) => waiting);
    this.title.className =
      waits || now.unseen.length
        ? 'jp-codeinterp-Tab-waiting'
        : others.length > 0
          ? 'jp-codeinterp-Tab-working'
          : '';
  }

  private async _showSent(): Promise<void> {
    const { store, trans } = this._options;
    const request = await store.conversation.sent();
    if (request) {
      await showDialog({
        title: trans.__('What was sent to the model'),
        body: ReactWidget.create(<Sent request={request} trans={trans} />),
        buttons: [Dialog.okButton({ label: trans.__('Close') })]
      });
    }
  }

  private async _confirmDelete(title: string): Promise<boolean> {
    const { trans } = this._options;
    const result = await showDialog({
      title: trans.__('Delete this conversation?'),
      body: trans.__(
        '“%1” will be gone for good. The cells in the notebook stay.',
        title
      ),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') })
      ]
    });
    return result.button.accept;
  }
}
