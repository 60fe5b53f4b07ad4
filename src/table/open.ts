/** Opens a table in a tab next to its notebook, and closes the tab with it. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { InputDialog, MainAreaWidget } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { spreadsheetIcon } from '@jupyterlab/ui-components';
import '../../style/table.css';
import type { Store } from '../panel/store/store';
import { columnIn } from './column-name';
import { TableModel } from './model';
import { TableWidget } from './widget';

/** Types of variables that can be tables. */
const TYPES = ['DataFrame', 'Series'];

export interface ITableTabs {
  readonly app: JupyterFrontEnd;
  readonly tracker: INotebookTracker;
  readonly store: Store;
  readonly trans: TranslationBundle;
  /** Open the panel. */
  readonly open: () => void;
}

interface IWanted {
  /** The notebook's path; by default the one in front. */
  readonly notebook?: string;
  /** The name of a variable; by default the person chooses. */
  readonly name?: string;
}

export async function openTable(
  tabs: ITableTabs,
  wanted: IWanted
): Promise<void> {
  const { tracker } = tabs;
  const panel = wanted.notebook
    ? tracker.find(({ context }) => context.path === wanted.notebook)
    : tracker.currentWidget;
  if (!panel) {
    return;
  }
  const name = wanted.name ?? (await chosen(tabs, panel.context.path));
  if (name && !panel.isDisposed) {
    show(tabs, panel, name);
  }
}

/** The name of a variable that the person chooses or types; '' if none. */
async function chosen(tabs: ITableTabs, notebook: string): Promise<string> {
  const { trans } = tabs;
  const names = await tabs.store.names(notebook);
  const items = (names?.variables ?? [])
    .filter(({ type }) => TYPES.includes(type))
    .map(({ name }) => name)
    .reverse();
  const { value } = await InputDialog.getItem({
    title: trans.__('Open Table'),
    label: trans.__('A DataFrame or Series of this notebook:'),
    items,
    editable: true,
    okLabel: trans.__('Open')
  });
  return value?.trim() ?? '';
}

interface ITab {
  readonly widget: MainAreaWidget;
  readonly model: TableModel;
}

/** The open tabs, by JSON of the notebook widget's id and the name. */
const open = new Map<string, ITab>();

function show(tabs: ITableTabs, panel: NotebookPanel, name: string): void {
  const { app } = tabs;
  const key = JSON.stringify([panel.id, name]);
  const known = open.get(key);
  if (known) {
    app.shell.activateById(known.widget.id);
    void known.model.refresh();
    return;
  }
  const made = makeTab(tabs, panel, name);
  open.set(key, made);
  const { widget } = made;
  widget.disposed.connect(() => open.delete(key));
  // Notebook 7 has one widget in its main area, the notebook.
  const inLab = 'currentChanged' in app.shell && app.name === 'JupyterLab';
  app.shell.add(widget, inLab ? 'main' : 'down', {
    ref: panel.id,
    mode: 'tab-after'
  });
  app.shell.activateById(widget.id);
  void made.model.refresh();
}

let count = 0;

function makeTab(tabs: ITableTabs, panel: NotebookPanel, name: string): ITab {
  const { store, trans } = tabs;
  const { context, sessionContext } = panel;
  const model = new TableModel(query =>
    store.table({ notebook: context.path, name, ...query })
  );
  // The model must not see the values of variables that private cells assign.
  const hidden = store.notebooks.outline(context.path)?.hidden;
  const ask = (label: string, place: number | null) =>
    void askAbout(tabs, panel, name, label, place);
  const content = new TableWidget(
    { model, name, trans, ask: hidden?.has(name) ? null : ask },
    sessionContext
  );
  const widget = new MainAreaWidget({ content });
  widget.id = `codeinterp-table-${++count}`;
  widget.title.label = name;
  widget.title.caption = trans.__('%1 in %2', name, context.path);
  widget.title.icon = spreadsheetIcon;
  widget.title.closable = true;
  widget.toolbar.hide();

  const close = () => widget.dispose();
  panel.disposed.connect(close);
  widget.disposed.connect(() => panel.disposed.disconnect(close));
  return { widget, model };
}

/** Put the beginning of a question into the message field, for the person to complete. */
async function askAbout(
  { store, open, trans }: ITableTabs,
  panel: NotebookPanel,
  name: string,
  label: string,
  place: number | null
): Promise<void> {
  const notebook = panel.context.path;
  if (store.state.now.notebook !== notebook) {
    await store.notebooks.goTo(notebook);
  }
  const column = columnIn(name, label);
  const text =
    place === null
      ? trans.__('About %1: ', column)
      : trans.__('About %1 (column %2): ', column, place);
  store.state.patch({
    prefill: { text, references: [{ kind: 'variable', name }], notebook }
  });
  open();
}
