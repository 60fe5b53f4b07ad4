import { PathExt } from '@jupyterlab/coreutils';
import { ellipsesIcon } from '@jupyterlab/ui-components';
import React from 'react';
import type { SessionInfo } from '../../protocol/protocol';
import type { IHistory, IPanelState } from '../store/panel-state';
import { byDay, dateOf, timeOf } from './days';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';
import { openMenu } from './menu';

/** Milliseconds without a key before the search starts. */
const PAUSE = 200;

/** The conversations about this notebook, or those about any notebook whose title contains a word. */
export function History(props: {
  history: IHistory;
  state: IPanelState;
}): JSX.Element {
  const { history, state } = props;
  const { trans } = usePanel();
  const search = React.useRef<HTMLInputElement>(null);
  const ids = React.useId();
  useFocusWithin(search);
  return (
    <section
      className="jp-codeinterp-History"
      aria-label={trans.__('Conversations')}
    >
      <Search input={search} />
      <p className="jp-codeinterp-History-none" role="status">
        {nothing(history, trans)}
      </p>
      <div className="jp-codeinterp-History-days">
        {byDay(history.sessions, trans).map(({ label, sessions }, index) => (
          <React.Fragment key={label}>
            <h2 id={`${ids}${index}`}>{label}</h2>
            <ul aria-labelledby={`${ids}${index}`}>
              {sessions.map(info => (
                <Row
                  key={info.session_id}
                  info={info}
                  elsewhere={history.word !== ''}
                  state={state}
                  search={search}
                />
              ))}
            </ul>
          </React.Fragment>
        ))}
      </div>
    </section>
  );
}

function Search(props: {
  input: React.RefObject<HTMLInputElement>;
}): JSX.Element {
  const { store, trans } = usePanel();
  const [word, setWord] = React.useState('');
  const searched = React.useRef('');
  React.useEffect(() => {
    const wanted = word.trim();
    if (wanted === searched.current) {
      return;
    }
    const find = () => {
      searched.current = wanted;
      void store.history.find(wanted);
    };
    const timer = setTimeout(find, wanted ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [word, store]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (word) {
        setWord('');
      } else {
        void store.history.toggle();
      }
    }
  };
  return (
    <input
      ref={props.input}
      type="search"
      className="jp-codeinterp-Input"
      aria-label={trans.__('Search conversations')}
      placeholder={trans.__('Search titles in all notebooks')}
      maxLength={200}
      value={word}
      onChange={event => setWord(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}

interface IRowProps {
  info: SessionInfo;
  /** Whether to show the notebook's name, as it may be another one. */
  elsewhere: boolean;
  state: IPanelState;
  search: React.RefObject<HTMLInputElement>;
}

function Row(props: IRowProps): JSX.Element {
  const { info, elsewhere, state, search } = props;
  const { store, trans, openNotebook, confirm } = usePanel();
  const [renaming, setRenaming] = React.useState(false);
  const opener = React.useRef<HTMLButtonElement>(null);
  const title = info.title || trans.__('Untitled');
  const id = info.session_id;

  const open = () => {
    if (info.notebook === state.notebook) {
      store.openSession(id);
    } else {
      store.showIn(info.notebook, id);
      void store.state.attempt(() => openNotebook(info.notebook));
    }
  };
  const remove = async () => {
    const sure = await confirm(
      trans.__('Delete this conversation?'),
      trans.__(
        '“%1” will be deleted permanently. Cells in the notebook are kept.',
        title
      ),
      trans.__('Delete')
    );
    if (sure) {
      await store.history.delete(id);
      search.current?.focus();
    }
  };
  const stopRenaming = (keepFocus: boolean) => {
    setRenaming(false);
    if (keepFocus) {
      requestAnimationFrame(() => opener.current?.focus());
    }
  };
  const showMenu = (button: HTMLElement) =>
    openMenu(button, title, [
      { label: trans.__('Rename'), execute: () => setRenaming(true) },
      {
        label: trans.__('Export as Markdown'),
        execute: () => void store.history.export(id)
      },
      {
        label: trans.__('Delete…'),
        enabled: !info.running,
        execute: () => void remove()
      }
    ]);

  if (renaming) {
    return (
      <li>
        <Rename info={info} done={stopRenaming} />
      </li>
    );
  }
  return (
    <li>
      <button
        ref={opener}
        type="button"
        className="jp-codeinterp-History-open"
        aria-current={state.shown[state.notebook] === id || undefined}
        onClick={open}
      >
        <span className="jp-codeinterp-History-title">{title}</span>{' '}
        {info.branches.length > 0 && (
          <span className="jp-codeinterp-History-branch">
            {trans.__('branch')}
          </span>
        )}{' '}
        <time dateTime={dateOf(info).toISOString()}>{timeOf(info)}</time>{' '}
        {elsewhere && (
          <span
            className="jp-codeinterp-History-notebook"
            title={info.notebook}
          >
            {place(info.notebook)}
          </span>
        )}
      </button>
      <Button
        look="icon"
        aria-label={trans.__('More actions for “%1”', title)}
        aria-haspopup="menu"
        aria-expanded={false}
        title={trans.__('More')}
        onClick={event => showMenu(event.currentTarget)}
      >
        <ellipsesIcon.react />
      </Button>
    </li>
  );
}

/** The title as a field: Enter and a lost focus save, Escape cancels. */
function Rename(props: {
  info: SessionInfo;
  done: (keepFocus: boolean) => void;
}): JSX.Element {
  const { info, done } = props;
  const { store, trans } = usePanel();
  const [title, setTitle] = React.useState(info.title);
  const over = React.useRef(false);
  const end = (save: boolean, keepFocus: boolean) => {
    if (over.current) {
      return;
    }
    over.current = true;
    const wanted = title.trim();
    if (save && wanted && wanted !== info.title) {
      void store.history.rename(info.session_id, wanted);
    }
    done(keepFocus);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Enter' || event.key === 'Escape') {
      event.preventDefault();
      end(event.key === 'Enter', true);
    }
  };
  return (
    <input
      autoFocus
      className="jp-codeinterp-Input"
      aria-label={trans.__('Conversation title')}
      maxLength={200}
      value={title}
      onFocus={event => event.target.select()}
      onChange={event => setTitle(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => end(true, false)}
    />
  );
}

/**
 * Focus the search field first. At the end, restore the earlier focus, unless the person has
 * moved it elsewhere.
 */
function useFocusWithin(first: React.RefObject<HTMLElement>): void {
  React.useLayoutEffect(() => {
    const before = document.activeElement;
    const node = first.current?.parentElement;
    first.current?.focus();
    return () => {
      if (
        node?.contains(document.activeElement) &&
        before instanceof HTMLElement
      ) {
        before.focus();
      }
    };
  }, [first]);
}

/** "sales.ipynb", or with its folder "sales.ipynb · work". */
function place(notebook: string): string {
  const folder = PathExt.dirname(notebook);
  const name = PathExt.basename(notebook);
  return folder ? `${name} · ${folder}` : name;
}

function nothing(
  { sessions, word }: IHistory,
  trans: ReturnType<typeof usePanel>['trans']
): string {
  if (sessions.length > 0) {
    return '';
  }
  return word
    ? trans.__('No conversation matches “%1”.', word)
    : trans.__('No conversations about this notebook yet.');
}
