/** A sentence of the server. */
import React from 'react';

/**
 * Shows what stands between two backticks as code. A name may contain a backtick; the
 * sentence is then shown as it is.
 */
export function Words({ children }: { children: string }): JSX.Element {
  const parts = children.split('`');
  if (parts.length % 2 === 0) {
    return <>{children}</>;
  }
  return (
    <>
      {parts.map((part, index) =>
        index % 2 ? <code key={index}>{part}</code> : part
      )}
    </>
  );
}
