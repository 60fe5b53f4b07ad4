import React from 'react';
import { useSure } from '../../../notebook/review/gate/button';
import { Button } from './Button';

/** A button that says yes to `question`, once it has stood in view for a second. */
export function SureButton(
  props: React.ComponentProps<typeof Button> & {
    question: string;
    onSure: () => void;
    /** Called for each press that does not count. */
    refused: () => void;
  }
): JSX.Element {
  const { question, onSure, refused, ...rest } = props;
  const { ref, ...sure } = useSure(question, onSure, refused);
  return <Button {...rest} {...sure} buttonRef={ref} />;
}
