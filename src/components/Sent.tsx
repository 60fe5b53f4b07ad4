import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { SentRequest } from '../api';

/** A request to the model, to be read: its parts as sections that unfold. */
export function Sent(props: {
  request: SentRequest;
  trans: TranslationBundle;
}): JSX.Element {
  const { trans } = props;
  const { system, tools, messages, ...rest } = props.request;
  return (
    <div className="jp-codeinterp-Sent">
      <Section title={trans.__('Request')} value={rest} />
      <Section title={trans.__('System prompt')} value={textOf(system)} />
      <Section title={trans.__('Tools')} value={linesOf(tools)} />
      {list(messages).map((message, index) => (
        <Section
          key={index}
          title={`${index + 1}. ${roleOf(message, trans)}`}
          value={textOf((message as { content?: unknown }).content)}
          open={index === list(messages).length - 1}
        />
      ))}
    </div>
  );
}

function Section(props: {
  title: string;
  value: unknown;
  open?: boolean;
}): JSX.Element | null {
  const { title, value, open } = props;
  if (value === undefined) {
    return null;
  }
  return (
    <details open={open}>
      <summary>{title}</summary>
      <pre>
        {typeof value === 'string'
          ? value
          : JSON.stringify(value, withoutImages, 2)}
      </pre>
    </details>
  );
}

function roleOf(message: unknown, trans: TranslationBundle): string {
  return (message as { role?: string }).role === 'assistant'
    ? trans.__('Model')
    : trans.__('You and your notebook');
}

/** Text blocks as text; anything else as it is. */
function textOf(content: unknown): unknown {
  const blocks = list(content) as { type?: string; text?: string }[];
  const plain =
    blocks.length > 0 && blocks.every(({ type }) => type === 'text');
  return plain ? blocks.map(({ text }) => text).join('\n\n') : content;
}

/** Names as lines; anything else as it is. */
function linesOf(value: unknown): unknown {
  const names = list(value);
  return names.length > 0 && names.every(name => typeof name === 'string')
    ? names.join('\n')
    : value;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Image data says nothing to a reader, and there may be megabytes of it. */
function withoutImages(key: string, value: unknown): unknown {
  return key === 'data' && typeof value === 'string' && value.length > 200
    ? `… ${Math.round((value.length * 3) / 4096)} kB …`
    : value;
}
