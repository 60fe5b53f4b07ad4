/**
 * Model completions at the cursor of a code cell, as a provider of JupyterLab's inline completer.
 * Off until the person turns it on in the settings.
 *
 * At most one request at a time: the next key aborts the previous one.
 */
import type { ISharedCell } from '@jupyter/ydoc';
import type {
  CompletionHandler,
  IInlineCompletionContext,
  IInlineCompletionItem,
  IInlineCompletionList,
  IInlineCompletionProvider
} from '@jupyterlab/completer';
import { InlineCompletionTriggerKind } from '@jupyterlab/completer';
import type { INotebookModel } from '@jupyterlab/notebook';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSONValue } from '@lumino/coreutils';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { IUnfinished } from '../protocol/api';
import { ApiError } from '../protocol/api';
import { isPrivate } from './document/snapshot';
import { outlineOf } from './outline';

/** Characters per cell; the server sends fewer to the model. */
const MOST = 20_000;
/** Cells above. */
const CELLS = 50;
/** Codes of errors that the person need not see. */
const QUIET = ['no_longer_waits', 'timeout'];

export class CellCompletions implements IInlineCompletionProvider {
  constructor(private readonly _options: CellCompletions.IOptions) {
    const { icon, trans } = _options;
    this.icon = icon;
    this.name = trans.__('Code Interpreter');
    this.schema = {
      properties: {
        model: {
          title: trans.__('Model'),
          description: trans.__(
            'Model for completions, as provider/model. Leave empty for the default model. A small, fast model works best.'
          ),
          type: 'string'
        }
      },
      default: {
        enabled: false,
        debouncerDelay: 400,
        timeout: 15_000,
        model: ''
      }
    };
  }

  readonly identifier = 'jupyter-codeinterp:completions';
  readonly name: string;
  readonly icon: LabIcon;
  readonly schema: IInlineCompletionProvider['schema'];

  configure(settings: { [property: string]: JSONValue }): void {
    const { model } = settings;
    this._model = typeof model === 'string' ? model.trim() : '';
  }

  async fetch(
    request: CompletionHandler.IRequest,
    context: IInlineCompletionContext
  ): Promise<IInlineCompletionList<IInlineCompletionItem>> {
    this._running?.abort();
    const typing = unfinished(request, context);
    if (!typing) {
      return { items: [] };
    }
    const { cell, query } = typing;
    const running = (this._running = new AbortController());
    const abort = () => running.abort();
    const isInvoked =
      context.triggerKind === InlineCompletionTriggerKind.Invoke;
    cell.changed.connect(abort);
    try {
      const text = await this._options.complete(
        { ...query, model: this._model },
        running.signal
      );
      return { items: text ? [{ insertText: text }] : [] };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        if (running.signal.aborted) {
          return { items: [] };
        }
        throw error;
      }
      // Show errors only to a person who pressed the completion key, not to one who types.
      const isShown = isInvoked && !QUIET.includes(error.code);
      return {
        items: isShown
          ? [{ insertText: '', error: { message: error.message } }]
          : []
      };
    } finally {
      cell.changed.disconnect(abort);
    }
  }

  private _running: AbortController | undefined;
  private _model = '';
}

export namespace CellCompletions {
  export interface IOptions {
    /** The text to insert. Rejects with an `ApiError`, or as `fetch` does. */
    complete(
      cell: IUnfinished & { model: string },
      signal: AbortSignal
    ): Promise<string>;
    icon: LabIcon;
    trans: TranslationBundle;
  }
}

/** The code around the cursor; undefined outside of a notebook and in a private cell. */
function unfinished(
  { text, offset }: CompletionHandler.IRequest,
  { widget }: IInlineCompletionContext
): { cell: ISharedCell; query: IUnfinished } | undefined {
  if (!(widget instanceof NotebookPanel) || !widget.content.model) {
    return undefined;
  }
  const { model, activeCellIndex, activeCell } = widget.content;
  const cell = activeCell?.model.sharedModel;
  if (cell?.cell_type !== 'code' || isPrivate(cell)) {
    return undefined;
  }
  const language = model.defaultKernelLanguage || 'python';
  return {
    cell,
    query: {
      notebook: widget.context.path,
      hidden: [...outlineOf(model).hidden],
      before: text.slice(0, offset).slice(-MOST),
      after: text.slice(offset).slice(0, MOST),
      above: above(model, activeCellIndex),
      language
    }
  };
}

function above(model: INotebookModel, index: number): string[] {
  return model.sharedModel.cells
    .slice(0, index)
    .filter(cell => cell.cell_type === 'code' && !isPrivate(cell))
    .slice(-CELLS)
    .map(cell => cell.getSource().slice(-MOST));
}
