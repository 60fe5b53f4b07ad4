/** A column's histogram, or the shares of its most frequent values; hidden from screen readers. */
import React from 'react';
import type { ITableProfile } from '../protocol/rest';

export function Histogram(props: {
  profile: ITableProfile;
  width: number;
  height: number;
}): JSX.Element | null {
  const { profile, width, height } = props;
  const { bins, top, read } = profile;
  const counts = bins.length ? bins : top.map(([, count]) => count);
  if (!counts.length) {
    return null;
  }
  const most = bins.length ? Math.max(...bins) : read;
  const step = width / counts.length;
  return (
    <svg
      className="jp-codeinterp-Histogram"
      width={width}
      height={height}
      aria-hidden="true"
    >
      {counts.map((count, place) => {
        // At least one pixel, so that a single row among a million is visible.
        const high = count && Math.max(1, (count / most) * (height - 1));
        return (
          <rect
            key={place}
            x={place * step}
            y={height - high}
            width={Math.max(1, step - 1)}
            height={high}
          />
        );
      })}
    </svg>
  );
}
