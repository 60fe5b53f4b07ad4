import React from 'react';
import { useSure } from '../../../notebook/review/press';
import { Button } from './Button';

/** A button that says yes to `question`, once it has been in view for half a second. */
export function SureButton(
  props: React.ComponentProps<typeof Button> & {
    question: string;
    onSure: () => void;
    /** Called for each press that comes too early. */
    refused: () => void;
  }
): JSX.Element {
  const { question, onSure, refused, ...rest } = props;
  const { ref, ...sure } = useSure(question, onSure, refused);
  return <Button {...rest} {...sure} buttonRef={ref} />;
}
