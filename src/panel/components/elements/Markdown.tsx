import React from 'react';
import { splitBlocks } from '../../../markdown/blocks';
import { markFigures } from '../../../markdown/figures';
import { beginningOfMarkdown } from '../../../markdown/limits';
import { watchWide } from '../../../markdown/reading';
import { rendering } from '../../../markdown/unfinished';
import type { Figure } from '../../../protocol/protocol';
import { addActions, makeActions } from './actions';
import { usePanel } from './context';
import { LongText, useBeginning } from './LongText';
import { makeFigure } from './origins';

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

/**
 * A model's Markdown. While it streams, only the last block is rendered again. `figures`: its
 * numbers, with the output that contains each, if any.
 */
export function Markdown(props: {
  text: string;
  figures?: readonly Figure[];
}): JSX.Element {
  const { text, figures = NO_FIGURES } = props;
  const { plain } = React.useContext(Formatting);
  return plain ? (
    <div className="jp-codeinterp-Plain">
      <LongText text={text} />
    </div>
  ) : (
    <Formatted text={text} figures={figures} />
  );
}

function Formatted(props: {
  text: string;
  figures: readonly Figure[];
}): JSX.Element {
  const { text, figures } = props;
  const { shown, more } = useBeginning(text, beginningOfMarkdown);
  const blocks = React.useMemo(() => splitBlocks(shown), [shown]);
  const byBlock = React.useMemo(
    () => figuresByBlock(blocks, figures),
    [blocks, figures]
  );
  return (
    <div className="jp-codeinterp-Markdown jp-RenderedHTMLCommon">
      {blocks.map((source, index) => (
        <Block
          key={index}
          source={source.trimEnd()}
          figures={byBlock?.[index] ?? NO_FIGURES}
        />
      ))}
      {more}
    </div>
  );
}

const NO_FIGURES: readonly Figure[] = [];

/** The figures of each block, placed in its source; null if there are none. */
function figuresByBlock(
  blocks: readonly string[],
  figures: readonly Figure[]
): readonly (readonly Figure[])[] | null {
  let place = 0;
  const found = blocks.map(block => {
    const [start, end] = [place, (place += block.length)];
    return figures
      .filter(figure => start <= figure.start && figure.end <= end)
      .map(figure => ({ ...figure, start: figure.start - start }));
  });
  return figures.length ? found : null;
}

const Block = React.memo(function Block(props: {
  source: string;
  figures: readonly Figure[];
}) {
  const { source, figures } = props;
  const panel = React.useRef(usePanel());
  const { markdown } = panel.current;
  const { sessionId } = React.useContext(Formatting);
  const host = React.useRef<HTMLDivElement>(null);
  const wanted = React.useRef({ source: '', figures });
  const busy = React.useRef(false);
  const unwatch = React.useRef(() => {});
  React.useEffect(() => () => unwatch.current(), []);

  React.useLayoutEffect(() => {
    const draw = async () => {
      busy.current = true;
      host.current?.setAttribute('aria-busy', 'true');
      const done = rendering(sessionId);
      try {
        let drawn: typeof wanted.current;
        do {
          drawn = wanted.current;
          let content: Node[];
          try {
            const formatted = await markdown.render(drawn.source);
            markFigures(formatted, drawn.source, drawn.figures, (found, link) =>
              makeFigure(found, panel.current.trans, link)
            );
            addActions(panel.current, formatted);
            content = [...formatted.childNodes];
          } catch (reason) {
            // Show the source, and go on with later text.
            console.warn('A text could not be formatted', reason);
            content = [document.createTextNode(drawn.source)];
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
    wanted.current = { source, figures };
    if (host.current && !host.current.hasChildNodes()) {
      host.current.textContent = source;
    }
    if (!busy.current) {
      void draw();
    }
  }, [markdown, source, figures, sessionId]);

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
