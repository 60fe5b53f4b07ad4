import React from 'react';

export function StatusBanner(props: {
  level?: 'info' | 'warning' | 'error';
  children: React.ReactNode;
}): JSX.Element {
  return (
    <div
      className="jp-codeinterp-Note"
      data-level={props.level ?? 'info'}
      role={props.level === 'error' ? 'alert' : undefined}
    >
      {props.children}
    </div>
  );
}
