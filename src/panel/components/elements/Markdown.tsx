import React from 'react';
import { splitBlocks } from '../../../markdown/blocks';
import { beginningOfMarkdown } from '../../../markdown/limits';
import { watchWide } from '../../../markdown/reading';
import { rendering } from '../../../markdown/unfinished';
import { addActions, makeActions } from './actions';
import { usePanel } from './context';
import { LongText, useBeginning } from './LongText';

/** How to show the texts of a conversation. */
export interface IFormatting {
  readonly sessionId: string;
  /** As plain text, because formatting them did not finish last time. */
  readonly plain: boolean;
}

export const Formatting = React.createContext<IFormatting>({
  sessionId: '',
  plain: false
});

/** A model's Markdown. While it streams, only the last block is rendered again. */
export function Markdown({ text }: { text: string }): JSX.Element {
  const { plain } = React.useContext(Formatting);
  return plain ? (
    <div className="jp-codeinterp-Plain">
      <LongText text={text} />
    </div>
  ) : (
    <Formatted text={text} />
  );
}

function Formatted({ text }: { text: string }): JSX.Element {
  const { shown, more } = useBeginning(text, beginningOfMarkdown);
  const blocks = React.useMemo(() => splitBlocks(shown), [shown]);
  return (
    <div className="jp-codeinterp-Markdown jp-RenderedHTMLCommon">
      {blocks.map((source, index) => (
        <Block key={index} source={source.trimEnd()} />
      ))}
      {more}
    </div>
  );
}

const Block = React.memo(function Block({ source }: { source: string }) {
  const panel = React.useRef(usePanel());
  const { markdown } = panel.current;
  const { sessionId } = React.useContext(Formatting);
  const host = React.useRef<HTMLDivElement>(null);
  const wanted = React.useRef('');
  const busy = React.useRef(false);
  const unwatch = React.useRef(() => {});
  React.useEffect(() => () => unwatch.current(), []);

  React.useLayoutEffect(() => {
    const draw = async () => {
      busy.current = true;
      host.current?.setAttribute('aria-busy', 'true');
      const done = rendering(sessionId);
      try {
        let drawn: string;
        do {
          drawn = wanted.current;
          let content: Node[];
          try {
            const formatted = await markdown.render(drawn);
            addActions(panel.current, formatted);
            content = [...formatted.childNodes];
          } catch (reason) {
            // Show the source, and go on with later text.
            console.warn('A text could not be formatted', reason);
            content = [document.createTextNode(drawn)];
          }
          unwatch.current();
          host.current?.replaceChildren(...content);
          unwatch.current = host.current ? watchWide(host.current) : () => {};
        } while (drawn !== wanted.current);
      } finally {
        busy.current = false;
        host.current?.removeAttribute('aria-busy');
        done();
      }
    };
    wanted.current = source;
    if (host.current && !host.current.hasChildNodes()) {
      host.current.textContent = source;
    }
    if (!busy.current) {
      void draw();
    }
  }, [markdown, source, sessionId]);

  return <div className="jp-codeinterp-Block" ref={host} />;
});

/** The buttons for a whole answer. */
export function AnswerActions({ text }: { text: string }): JSX.Element {
  const panel = usePanel();
  const host = React.useRef<HTMLDivElement>(null);
  React.useEffect(
    () => host.current!.replaceChildren(makeActions(panel, 'markdown', text)),
    [panel, text]
  );
  return <div ref={host} />;
}
