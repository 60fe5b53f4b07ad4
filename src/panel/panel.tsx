/** The sidebar widget. */
import { ReactWidget } from '@jupyterlab/apputils';
import { type Message, MessageLoop } from '@lumino/messaging';
import React from 'react';
import { lazy } from './components/elements/lazy';
import type { IPanelOptions } from './components/Root';
import { codeInterpreterIcon } from './icon';
import { elsewhere } from './store/panel-state';

const PANEL_ID = 'codeinterp-panel';

const Root = lazy(async () => (await import('./components/Root')).Root);

export class CodeInterpreterPanel extends ReactWidget {
  constructor(private readonly _options: IPanelOptions) {
    super();
    const { store, trans } = _options;
    this.id = PANEL_ID;
    this.addClass('jp-codeinterp-Panel');
    this.title.icon = codeInterpreterIcon;
    this.title.caption = trans.__('Code Interpreter');
    store.state.changed.connect(this._onState, this);
  }

  /** Focus the message field, once it is loaded. */
  focusComposer(): void {
    const field = this.node.querySelector('textarea');
    field?.focus();
    this._wantsFocus = !field;
  }

  /** Show the panel by `open`, which activates it, and leave the focus where it is. */
  showBy(open: () => void): void {
    if (!this.isVisible) {
      this._takesFocus = false;
      open();
      // Handle the activation.
      MessageLoop.flush();
      this._takesFocus = true;
    }
  }

  /** Open the list of models or, if there is none, the connections. */
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

  protected render(): JSX.Element | null {
    return this._wasShown ? (
      <Root
        options={this._options}
        ready={this._onReady}
        trans={this._options.trans}
      />
    ) : null;
  }

  private readonly _onReady = (): void => {
    if (this._wantsFocus) {
      this.focusComposer();
    }
  };

  protected onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    if (this._takesFocus) {
      this.focusComposer();
    }
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

  /** Load the content, if the panel is visible: its sidebar may still be closed. */
  private _onLook(): void {
    const { setup, state } = this._options.store;
    state.patch({ panelShown: this.isVisible });
    if (this.isVisible) {
      void setup.loadModels();
      if (!this._wasShown) {
        this._wasShown = true;
        this.update();
      }
    }
  }

  /** Mark the tab while another conversation waits or works, or has ended a turn unseen. */
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

  private _wasShown = false;
  private _wantsFocus = false;
  /** Whether an activation focuses the message field. */
  private _takesFocus = true;
}
