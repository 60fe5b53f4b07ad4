import React from 'react';
import { FIRST_PART, beginning } from '../../../markdown/limits';
import { watchWide } from '../../../markdown/reading';
import { Button } from './Button';
import { usePanel } from './context';

/** The beginning of a text, and more of it on request. */
export function useBeginning(
  text: string,
  cut = beginning
): {
  shown: string;
  more: JSX.Element | null;
} {
  const { trans } = usePanel();
  const [most, setMost] = React.useState(FIRST_PART);
  const shown = React.useMemo(() => cut(text, most), [cut, text, most]);
  const left = text.length - shown.length;
  const more = left > 0 && (
    <span className="jp-codeinterp-Quiet">
      {trans.__('%1 more characters.', left.toLocaleString())}{' '}
      <Button look="link" onClick={() => setMost(most + FIRST_PART)}>
        {left > FIRST_PART ? trans.__('Show more') : trans.__('Show the rest')}
      </Button>
    </span>
  );
  return { shown, more: more || null };
}

/** Plain text; a very long one shows its beginning first. */
export function LongText({ text }: { text: string }): JSX.Element {
  const { shown, more } = useBeginning(text);
  return (
    <>
      {shown}
      {more}
    </>
  );
}

/** A `ref` for what a click opens: scrolls it into view. */
export function revealed(node: Element | null): void {
  node?.scrollIntoView?.({ block: 'nearest' });
}

/** Preformatted text; Tab reaches it if it scrolls. */
export function Pre(props: {
  className: string;
  children: React.ReactNode;
}): JSX.Element {
  const node = React.useRef<HTMLPreElement>(null);
  React.useEffect(() => watchWide(node.current!));
  return <pre ref={node} {...props} />;
}
