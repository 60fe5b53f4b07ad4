import React from 'react';

/** A button in the panel's style. */
export function Button(
  props: React.ButtonHTMLAttributes<HTMLButtonElement> & {
    look?: 'primary' | 'plain' | 'link' | 'icon';
    buttonRef?: React.Ref<HTMLButtonElement>;
  }
): JSX.Element {
  const { look = 'plain', buttonRef, ...rest } = props;
  return (
    <button
      ref={buttonRef}
      type="button"
      {...rest}
      className={`jp-codeinterp-Button jp-mod-${look}`}
    />
  );
}
