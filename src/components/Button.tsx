import React from 'react';

/** A button in the panel's look; `look` says how much weight it has. */
export function Button(
  props: React.ButtonHTMLAttributes<HTMLButtonElement> & {
    look?: 'primary' | 'plain' | 'link' | 'icon';
  }
): JSX.Element {
  const { look = 'plain', ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      className={`jp-codeinterp-Button jp-mod-${look}`}
    />
  );
}
