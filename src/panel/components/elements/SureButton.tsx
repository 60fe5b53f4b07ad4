import React from 'react';
import { useSure } from '../../../notebook/review/press';
import { Button } from './Button';

/** A button that confirms `question`; it works after half a second in view. */
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
