/** The content of a table's tab; reads the table again after each run in the kernel. */
import { type ISessionContext, ReactWidget } from '@jupyterlab/apputils';
import type { KernelMessage } from '@jupyterlab/services';
import type { Message } from '@lumino/messaging';
import React from 'react';
import { type ITableViewProps, TableView } from './TableView';

/** Milliseconds after a cell's end: a series of cells needs only one refresh. */
const SETTLED = 200;

export class TableWidget extends ReactWidget {
  constructor(
    private readonly _props: ITableViewProps,
    /** The kernel whose cells may change the table. */
    private readonly _kernel: ISessionContext
  ) {
    super();
    _kernel.iopubMessage.connect(this._onMessage, this);
    _kernel.statusChanged.connect(this._onStatus, this);
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    clearTimeout(this._timer);
    this._kernel.iopubMessage.disconnect(this._onMessage, this);
    this._kernel.statusChanged.disconnect(this._onStatus, this);
    super.dispose();
    this._props.model.dispose();
  }

  protected render(): JSX.Element {
    return <TableView {...this._props} />;
  }

  protected onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    if (this._stale) {
      this._look();
    }
  }

  /** Refresh once a cell has ended. Requests for tables send no `execute_input`. */
  private _onMessage(_: unknown, message: KernelMessage.IMessage): void {
    const { header, content, parent_header } = message;
    const cause = 'msg_id' in parent_header ? parent_header.msg_id : '';
    if (header.msg_type === 'execute_input') {
      this._running = cause;
    } else if (
      header.msg_type === 'status' &&
      (content as { execution_state?: string }).execution_state === 'idle' &&
      cause === this._running
    ) {
      this._running = '';
      clearTimeout(this._timer);
      this._timer = setTimeout(() => this._look(), SETTLED);
    }
  }

  private _onStatus(_: unknown, status: string): void {
    if (status === 'restarting' || status === 'autorestarting') {
      this._restarted = true;
    } else if (status === 'idle' && this._restarted) {
      this._restarted = false;
      this._look();
    }
  }

  private _look(): void {
    this._stale = !this.isVisible;
    if (this.isVisible) {
      void this._props.model.refresh();
    }
  }

  private _running = '';
  private _restarted = false;
  private _stale = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
