import React from 'react';
import { splitBlocks } from '../markdown';
import { usePanel } from './context';

/** A model's Markdown. While it streams, only the last block is rendered again. */
export function Markdown({ text }: { text: string }): JSX.Element {
  const blocks = React.useMemo(() => splitBlocks(text), [text]);
  return (
    <div className="jp-codeinterp-Markdown jp-RenderedHTMLCommon">
      {blocks.map((source, index) => (
        <Block key={index} source={source.trimEnd()} />
      ))}
    </div>
  );
}

const Block = React.memo(function Block({ source }: { source: string }) {
  const { markdown } = usePanel();
  const host = React.useRef<HTMLDivElement>(null);
  const wanted = React.useRef('');
  const busy = React.useRef(false);

  React.useLayoutEffect(() => {
    const draw = async () => {
      busy.current = true;
      let drawn: string;
      do {
        drawn = wanted.current;
        const content = await markdown.render(drawn);
        host.current?.replaceChildren(...content.childNodes);
      } while (drawn !== wanted.current);
      busy.current = false;
    };
    wanted.current = source;
    if (host.current && !host.current.hasChildNodes()) {
      host.current.textContent = source;
    }
    if (!busy.current) {
      void draw();
    }
  }, [markdown, source]);

  return <div className="jp-codeinterp-Block" ref={host} />;
});
