/**
 * Grey text at the cursor of a code cell, by a model: a provider of JupyterLab's own inline
 * completer, which has it off until a person turns it on in its settings.
 *
 * Never more than one request at a time: the next key ends the one before.
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

/** Characters; the server sends less to the model. */
const MOST = 20_000;
/** Cells above. */
const CELLS = 50;
/** Not the person's to read while they type. */
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
            'The model that completes: provider/model, as in the list of models. Empty: the one that answers by default. A small, quick one is best.'
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
    this._asked?.abort();
    const typing = unfinished(request, context);
    if (!typing) {
      return { items: [] };
    }
    const { cell, asked } = typing;
    const ended = (this._asked = new AbortController());
    const end = () => ended.abort();
    const asksForIt =
      context.triggerKind === InlineCompletionTriggerKind.Invoke;
    cell.changed.connect(end);
    try {
      const text = await this._options.complete(
        { ...asked, model: this._model },
        ended.signal
      );
      return { items: text ? [{ insertText: text }] : [] };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        if (ended.signal.aborted) {
          return { items: [] };
        }
        throw error;
      }
      // Whoever has pressed the key for it is told; whoever only types is not.
      const isTold = asksForIt && !QUIET.includes(error.code);
      return {
        items: isTold
          ? [{ insertText: '', error: { message: error.message } }]
          : []
      };
    } finally {
      cell.changed.disconnect(end);
    }
  }

  private _asked: AbortController | undefined;
  private _model = '';
}

export namespace CellCompletions {
  export interface IOptions {
    /** What is to be inserted; rejects with an `ApiError`, or as `fetch` does. */
    complete(
      cell: IUnfinished & { model: string },
      signal: AbortSignal
    ): Promise<string>;
    icon: LabIcon;
    trans: TranslationBundle;
  }
}

/** Of the code cell that the request comes from; none for a private one, and for what is no notebook. */
function unfinished(
  { text, offset }: CompletionHandler.IRequest,
  { widget }: IInlineCompletionContext
): { cell: ISharedCell; asked: IUnfinished } | undefined {
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
    asked: {
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
