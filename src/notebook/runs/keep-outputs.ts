/**
 * Has the server keep the outputs of the person's runs in case this page closes. Loaded when the
 * person turns that on.
 */
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { INotebookModel, INotebookTracker } from '@jupyterlab/notebook';
import type { ServerFrame } from '../../protocol/protocol';
import type { IClient } from '../../tokens';
import { KeptRuns } from './kept-runs';

interface ILive {
  readonly context: object;
  readonly model: INotebookModel;
  readonly path: string;
  readonly kernelId: string;
  kept: KeptRuns | undefined;
  announce(): void;
}

interface IOpen {
  find(path: string): ILive | undefined;
  /** Called with each notebook that opens. */
  keep?(live: ILive): void;
}

interface IOptions {
  client: IClient;
  docManager: IDocumentManager;
  tracker: INotebookTracker;
}

export function keepOutputs(
  open: IOpen,
  { client, docManager, tracker }: IOptions,
  keep: boolean
): void {
  if (keep === !!open.keep) {
    return;
  }
  client.frames[keep ? 'connect' : 'disconnect'](tell);
  open.keep = keep ? live => follow(live, client) : undefined;
  const { contents } = docManager.services;
  tracker.forEach(({ context }) => {
    const live = open.find(contents.localPath(context.path));
    // Not a file of the same name on another drive, nor a second view of the notebook.
    if (live?.context === context && keep === !live.kept) {
      live.kept = undefined;
      open.keep?.(live);
      live.announce();
    }
  });
}

function follow(live: ILive, client: IClient): void {
  live.kept = new KeptRuns(live.model, run =>
    client.post({
      ...run,
      type: 'own_run',
      notebook: live.path,
      kernel_id: live.kernelId
    })
  );
}

function tell(_: unknown, frame: ServerFrame): void {
  if (frame.type === 'outputs_not_kept') {
    // By default it would only be counted at the bell.
    Notification.warning(frame.words, { autoClose: false });
  }
}
