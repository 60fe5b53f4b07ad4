/** A notebook with its kernel, made over the server's API and open in the page. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type * as nbformat from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { expect, type JSHandle, type Locator } from '@playwright/test';

export type App = 'lab' | 'notebook7';

declare global {
  interface Window {
    /** Every code that the kernel of the open notebook began to run, from any client. */
    codeinterpExecuted?: string[];
  }
}

export interface ICreateOptions {
  /** File name; `test.ipynb` if not given. */
  name?: string;
  /** `null`: no kernel is started; the application asks for one when it opens the notebook. */
  kernel?: string | null;
}

/** The parts of a cell that are given; it is a code cell unless they say otherwise. */
export type CellLike = string | Partial<nbformat.ICell>;

export class NotebookHelper {
  constructor(
    readonly page: IJupyterLabPageFixture,
    private readonly _app: App,
    private readonly _folder: string
  ) {}

  /** Write a notebook and start its kernel; the notebook's path. */
  async create(
    cells: readonly CellLike[] = [''],
    { name = 'test.ipynb', kernel = 'python3' }: ICreateOptions = {}
  ): Promise<string> {
    const path = `${this._folder}/${name}`;
    await this._request('PUT', `contents/${path}`, {
      type: 'notebook',
      format: 'json',
      content: notebook(cells, kernel)
    });
    if (kernel) {
      await this._request('POST', 'sessions', {
        path,
        name,
        type: 'notebook',
        kernel: { name: kernel }
      });
    }
    return path;
  }

  /**
   * Load the application on a notebook, the panel open; resolves once its kernel answers,
   * unless `kernel` is false: it has none, or is busy.
   * The panel opens by itself because the address says so, unless `panel` is false.
   * `reset`: nothing that was open before is opened again.
   */
  async open(
    path: string,
    { panel = true, kernel = true, reset = false } = {}
  ): Promise<void> {
    const folder = this._app === 'lab' ? 'tree' : 'notebooks';
    const query = [panel && 'codeinterp=open', reset && 'reset'];
    await this.page.goto(
      `${folder}/${path}?${query.filter(Boolean).join('&')}`
    );
    await this.attach(path, { kernel });
  }

  /** After a reload: wait for the notebook again, and for an answer of its kernel. */
  async attach(path: string, { kernel = true } = {}): Promise<void> {
    this._panel = await this.page.waitForFunction(wanted => {
      const widgets = Array.from(window.jupyterapp.shell.widgets('main'));
      return widgets.find(
        (widget): widget is NotebookPanel =>
          (widget as NotebookPanel).context?.path === wanted
      );
    }, path);
    await this._panel.evaluate(async (panel, answers) => {
      const { context, sessionContext } = panel!;
      await Promise.all([context.ready, panel!.revealed]);
      window.codeinterpExecuted = [];
      sessionContext.iopubMessage.connect((_, message) => {
        if (message.header.msg_type === 'execute_input') {
          const { code } = message.content as { code: string };
          window.codeinterpExecuted!.push(code);
        }
      });
      if (answers) {
        await sessionContext.ready;
        await sessionContext.session?.kernel?.info;
      }
    }, kernel);
  }

  /** The path of the notebook in front; '' if there is none. */
  async front(): Promise<string> {
    return this.page.evaluate(() => {
      const widget = window.jupyterapp.shell.currentWidget;
      return (widget as NotebookPanel | null)?.context?.path ?? '';
    });
  }

  /**
   * Make, open, and return the path. Again in the same test: a new notebook, with a conversation
   * and a kernel of its own, takes the place of the one before, in JupyterLab without a new page.
   */
  async start(
    cells?: readonly CellLike[],
    options?: ICreateOptions
  ): Promise<string> {
    this._started += 1;
    const name = this._started > 1 ? `test-${this._started}.ipynb` : undefined;
    const path = await this.create(cells, { name, ...options });
    const kernel = options?.kernel !== null;
    await this._panel?.evaluate(panel => panel!.context.save());
    const isLoaded = this._panel && this._app === 'lab';
    // A page that was reloaded opens the notebook of its address again when it finds it closed.
    if (isLoaded && !(await this._isReloaded())) {
      await this._handle.evaluate(panel => panel!.dispose());
      await this.command('docmanager:open', { path });
      await this.attach(path, { kernel });
    } else {
      await this.open(path, { kernel, reset: isLoaded });
    }
    return path;
  }

  /** The cells as the page holds them now, saved or not. */
  async cells(): Promise<nbformat.ICell[]> {
    return this._handle.evaluate(panel =>
      Array.from(panel!.content.model!.cells, cell => ({
        ...cell.toJSON(),
        id: cell.id,
        source: cell.sharedModel.getSource()
      }))
    );
  }

  async sources(): Promise<string[]> {
    return (await this.cells()).map(cell => cell.source as string);
  }

  /** A cell in the page, by its place or by a text in it. */
  cell(which: number | string | RegExp): Locator {
    const cells = this.page.locator('.jp-Notebook .jp-Cell');
    return typeof which === 'number'
      ? cells.nth(which)
      : cells.filter({ hasText: which });
  }

  /** Go to a cell, as a click does. */
  async select(index: number): Promise<void> {
    await this._handle.evaluate((panel, place) => {
      panel!.content.deselectAll();
      panel!.content.activeCellIndex = place;
      panel!.content.widgets[place].node.dispatchEvent(
        new PointerEvent('pointerdown', { bubbles: true })
      );
    }, index);
  }

  /** Replace the source of a cell as typing would. */
  async edit(index: number, source: string): Promise<void> {
    await this._handle.evaluate(
      (panel, [place, text]) => {
        panel!.content.widgets[place].model.sharedModel.setSource(text);
      },
      [index, source] as const
    );
  }

  /** Run one of the application's commands and wait for its end. */
  async command(id: string, args: Record<string, string> = {}): Promise<void> {
    await this.page.evaluate(
      async ([name, values]) => {
        await window.jupyterapp.commands.execute(name, values);
      },
      [id, args] as const
    );
  }

  /** Run a cell as the person would (not by a click, which the bar of a draft could catch). */
  async run(index: number): Promise<void> {
    await this.select(index);
    await this.command('notebook:run-cell');
  }

  /** As `run`, but without waiting for the cell's end. */
  async begin(index: number): Promise<void> {
    await this.select(index);
    await this.page.evaluate(() => {
      void window.jupyterapp.commands.execute('notebook:run-cell');
    });
  }

  /** What stands under a draft cell, by the draft's title. */
  bar(title = ''): Locator {
    return this.page.getByRole('group', { name: `Review cell: ${title}` });
  }

  /** Resolves once the run keys decide on a draft in the active cell. */
  async keysDecide(title = ''): Promise<void> {
    await expect(this.bar(title)).toHaveAttribute('data-keys', 'ready');
  }

  /** Put the caret into a cell's editor, at its end, without the mouse. */
  async enter(index: number): Promise<void> {
    await this.select(index);
    await this._handle.evaluate(panel => {
      const { activeCell } = panel!.content;
      const editor = activeCell!.editor!;
      const line = editor.lineCount - 1;
      const column = editor.getLine(line)!.length;
      editor.focus();
      editor.setCursorPosition({ line, column });
    });
  }

  async save(): Promise<void> {
    await this._handle.evaluate(panel => panel!.context.save());
  }

  /** As "Rename Notebook…" does when the name has been typed. */
  async rename(name: string): Promise<void> {
    await this._handle.evaluate((panel, to) => panel!.context.rename(to), name);
  }

  /** The repr of a Python expression in the kernel, or `Name: message` of its exception. */
  async value(expression: string): Promise<string> {
    return this._handle.evaluate(async (panel, asked) => {
      const kernel = panel!.sessionContext.session!.kernel!;
      const { content } = await kernel.requestExecute({
        code: '',
        silent: true,
        user_expressions: { asked }
      }).done;
      if (content.status !== 'ok') {
        throw new Error(`the kernel answered ${content.status}`);
      }
      const answer = content.user_expressions.asked as unknown as
        | { status: 'ok'; data: { 'text/plain': string } }
        | { status: 'error'; ename: string; evalue: string };
      return answer.status === 'ok'
        ? answer.data['text/plain']
        : `${answer.ename}: ${answer.evalue}`;
    }, expression);
  }

  /** Every code that the kernel began to run since the notebook was opened, by whomever. */
  async executed(): Promise<string[]> {
    return this.page.evaluate(() => window.codeinterpExecuted ?? []);
  }

  /**
   * The notebook in its file. Jupyter empties a file to save it, so it can be incomplete. The
   * contents API would then take it for broken and put the previous content back.
   */
  async saved(path: string): Promise<nbformat.INotebookContent> {
    let found: nbformat.INotebookContent | undefined;
    await expect(async () => {
      const response = await this.page.request.get(`/files/${path}`);
      found = JSON.parse(await response.text(), joined);
    }).toPass({ timeout: 2000 });
    return found!;
  }

  private async _isReloaded(): Promise<boolean> {
    return this.page.evaluate(() =>
      performance
        .getEntriesByType('navigation')
        .some(entry => (entry as PerformanceNavigationTiming).type === 'reload')
    );
  }

  private async _request<T>(
    method: string,
    route: string,
    data?: object
  ): Promise<T> {
    const response = await this.page.request.fetch(`/api/${route}`, {
      method,
      data
    });
    if (!response.ok()) {
      const text = await response.text();
      throw new Error(`${method} ${route}: ${response.status()} ${text}`);
    }
    return response.json();
  }

  private get _handle(): JSHandle<NotebookPanel | undefined> {
    if (!this._panel) {
      throw new Error('no notebook is open: call open() or start() first');
    }
    return this._panel;
  }

  private _panel: JSHandle<NotebookPanel | undefined> | undefined;
  private _started = 0;
}

function notebook(
  cells: readonly CellLike[],
  kernel: string | null
): nbformat.INotebookContent {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: kernel
      ? { kernelspec: { name: kernel, display_name: kernel } }
      : { kernelspec: undefined },
    cells: cells.map((cell, index) => ({
      id: `cell-${index}`,
      metadata: {},
      ...(typeof cell === 'string' || !cell.cell_type
        ? { cell_type: 'code', execution_count: null, outputs: [] }
        : {}),
      ...(typeof cell === 'string' ? { source: cell } : cell)
    })) as nbformat.ICell[]
  };
}

/** For JSON.parse: texts that the file has as lists of lines. */
function joined(key: string, value: unknown): unknown {
  const isText = /^(source|text|(text|image)\/[^/]+)$/.test(key);
  return isText && Array.isArray(value) ? value.join('') : value;
}
