import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { SentRequest } from '../../protocol/api';

/** Characters of a part shown beside its heading. */
const PREVIEW = 120;

/** A request to the model, with its parts as collapsible sections. */
export function Sent(props: {
  request: SentRequest;
  trans: TranslationBundle;
}): JSX.Element {
  const { trans } = props;
  const { system, tools, messages, ...rest } = props.request;
  const all = (messages ?? []) as IMessage[];
  return (
    <div className="jp-codeinterp-Sent">
      <Section title={trans.__('Request')} text={plain(rest)} />
      <Section
        title={trans.__('System prompt')}
        text={readable(system, trans)}
      />
      <Section title={trans.__('Tools')} text={readable(tools, trans)} />
      {all.map((message, index) => (
        <Section
          key={index}
          title={`${index + 1}. ${
            message.role === 'assistant'
              ? trans.__('Model')
              : trans.__('You and your notebook')
          }`}
          text={readable(message.content, trans)}
          open={index === all.length - 1}
        />
      ))}
    </div>
  );
}

function Section(props: {
  title: string;
  text: string;
  open?: boolean;
}): JSX.Element {
  return (
    <details open={props.open}>
      <summary>
        {props.title}
        <span className="jp-codeinterp-Sent-begins">
          {props.text.slice(0, PREVIEW)}
        </span>
      </summary>
      <pre>{props.text}</pre>
    </details>
  );
}

interface IMessage {
  role: string;
  content: unknown;
}

/** A content block of the Messages API. */
type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string }
  | { type: 'tool_use'; name: string; input: Record<string, unknown> }
  | { type: 'tool_result'; content: unknown }
  | { type: 'image'; source: { data: string } }
  | { type: 'document'; title?: string; source: { data: string } };

/** Content for people: text and code with real line breaks. */
function readable(content: unknown, trans: TranslationBundle): string {
  return Array.isArray(content)
    ? content.map(block => blockText(block, trans)).join('\n\n')
    : plain(content);
}

function blockText(block: Block | string, trans: TranslationBundle): string {
  if (typeof block === 'string') {
    return block;
  }
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return `[${trans.__('thinking')}]\n${block.thinking}`;
    case 'tool_use':
      return [
        `[${block.name}]`,
        ...Object.entries(block.input).map(
          ([name, value]) => `${name}: ${plain(value)}`
        )
      ].join('\n');
    case 'tool_result':
      return `[${trans.__('result')}]\n${readable(block.content, trans)}`;
    case 'image':
      return `[${trans.__('image')}, ${kilobytes(block.source.data)}]`;
    case 'document':
      return `[PDF ${block.title ?? ''}, ${kilobytes(block.source.data)}]`;
    default:
      return plain(block);
  }
}

function kilobytes(base64: string): string {
  return `${Math.round((base64.length * 3) / 4096)} kB`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
