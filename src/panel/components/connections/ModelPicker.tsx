import { caretDownIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IModelInfo } from '../../../protocol/api';
import { keptInBrowser, listIn } from '../../../storage';
import {
  IPanelState,
  isDemo,
  modelOf,
  needsKey
} from '../../store/panel-state';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

const USED = 'jp-codeinterp:models';
/** Recently used models to remember. */
const MOST_USED = 5;

/** Button and searchable list to choose a model, recently used ones first. */
export function ModelPicker({
  state
}: {
  state: IPanelState;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const opener = React.useRef<HTMLButtonElement>(null);
  const model = modelOf(state);
  if (!model || needsKey(state)) {
    return null;
  }
  const known = state.models.find(({ id }) => id === model)?.name;
  const name = isDemo(state) ? trans.__('Offline demo') : known || model;
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <>
      <Button
        buttonRef={opener}
        look="link"
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-label={trans.__('Model: %1', name)}
        title={model}
        onClick={() => {
          void store.setup.loadModels();
          setOpen(!open);
        }}
      >
        <span className="jp-codeinterp-Models-chosen">{name}</span>
        <caretDownIcon.react />
      </Button>
      {open && (
        <Models
          state={state}
          model={model}
          opener={opener}
          choose={id => {
            remember(id);
            store.conversation.setModel(id);
            close();
          }}
          close={close}
          leave={() => setOpen(false)}
        />
      )}
    </>
  );
}

function Models(props: {
  state: IPanelState;
  model: string;
  opener: React.RefObject<HTMLElement>;
  choose: (id: string) => void;
  /** Close, and focus the button. */
  close: () => void;
  /** Close without moving the focus. */
  leave: () => void;
}): JSX.Element {
  const { state, model, opener, choose, close, leave } = props;
  const { trans } = usePanel();
  const [word, setWord] = React.useState('');
  const [at, setAt] = React.useState(0);
  const ids = React.useId();
  const list = React.useRef<HTMLDivElement>(null);
  const found = React.useMemo(() => inOrder(state, word), [state, word]);
  const active = Math.min(at, found.length - 1);
  React.useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const { key } = event;
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      const step = key === 'ArrowDown' ? 1 : found.length - 1;
      setAt(found.length ? (active + step) % found.length : 0);
    } else if (key === 'Enter' && found[active]) {
      choose(found[active].id);
    } else if (key === 'Escape') {
      close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      className="jp-codeinterp-Models"
      onBlur={({ currentTarget, relatedTarget }) => {
        const inside = currentTarget.contains(relatedTarget);
        if (!inside && relatedTarget !== opener.current) {
          leave();
        }
      }}
    >
      <input
        autoFocus
        type="text"
        role="combobox"
        className="jp-codeinterp-Input"
        aria-label={trans.__('Search models')}
        aria-autocomplete="list"
        aria-expanded="true"
        aria-controls={ids}
        aria-activedescendant={found[active] ? `${ids}${active}` : undefined}
        placeholder={trans.__('Search models')}
        spellCheck={false}
        value={word}
        onChange={event => {
          setWord(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={ids} role="listbox" aria-label={trans.__('Models')}>
        {found.map((info, index) => (
          <button
            key={info.id}
            id={`${ids}${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={info.id === model}
            data-active={index === active || undefined}
            title={info.id}
            onClick={() => choose(info.id)}
          >
            <span>{info.name || info.id}</span>
            <small>{facts(info, trans)}</small>
          </button>
        ))}
      </div>
      <p role="status">
        {!found.length &&
          (state.models.length
            ? trans.__('No matching model.')
            : trans.__('Couldn’t load models.'))}
      </p>
    </div>
  );
}

/** Models with all parts of the word in name or id; the recording only in a demo's notebook. */
function inOrder(state: IPanelState, word: string): IModelInfo[] {
  const parts = word.toLowerCase().split(/\s+/);
  const used = remembered();
  const rank = ({ id }: IModelInfo) =>
    used.includes(id) ? used.indexOf(id) : MOST_USED;
  return state.models
    .filter(({ id }) => id !== state.status?.demo_model || isDemo(state))
    .filter(({ id, name }) =>
      parts.every(part => `${name} ${id}`.toLowerCase().includes(part))
    )
    .sort((a, b) => rank(a) - rank(b));
}

/** The known facts about a model: id, context size, price. */
function facts(info: IModelInfo, trans: TranslationBundle): string {
  return [
    info.name && info.name !== info.id ? info.id : '',
    info.context_window
      ? trans.__('%1 tokens', size(info.context_window))
      : trans.__('context unknown'),
    price(info, trans)
  ]
    .filter(Boolean)
    .join(' · ');
}

function size(tokens: number): string {
  return tokens < 1e6
    ? `${Math.round(tokens / 1e3)}k`
    : `${Math.round(tokens / 1e4) / 100}M`;
}

function price(info: IModelInfo, trans: TranslationBundle): string {
  if (info.local) {
    return trans.__('local');
  }
  if (!info.prices) {
    return trans.__('price unknown');
  }
  const [input, output] = info.prices;
  const long = info.long_prompts;
  return [
    trans.__('$%1 in, $%2 out per million', input, output),
    long && trans.__('more above %1 tokens', size(long.over)),
    info.prices_seen && trans.__('as of %1', info.prices_seen)
  ]
    .filter(Boolean)
    .join(', ');
}

function remembered(): string[] {
  return listIn(keptInBrowser.get(USED)).map(String);
}

function remember(id: string): void {
  const used = [id, ...remembered().filter(other => other !== id)];
  keptInBrowser.set(USED, JSON.stringify(used.slice(0, MOST_USED)));
}
