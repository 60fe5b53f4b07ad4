/** The result of a verification, in words. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IVerification, IVerifiedCell } from '../../../protocol/rest';

export function statusWords(
  status: IVerifiedCell['status'],
  trans: TranslationBundle
): string {
  switch (status) {
    case 'waiting':
      return '';
    case 'running':
      return trans.__('running');
    case 'same':
      return trans.__('same');
    case 'new':
      return trans.__('ran');
    case 'differs':
      return trans.__('differs');
    case 'failed':
      return trans.__('failed');
    case 'skipped':
      return trans.__('not run');
  }
}

export function summary(now: IVerification, trans: TranslationBundle): string {
  const count = (...statuses: IVerifiedCell['status'][]) =>
    now.cells.filter(({ status }) => statuses.includes(status)).length;
  const most = now.cells.length;
  if (now.state === 'running') {
    const at = most - count('waiting');
    return at === 0
      ? trans.__('Starting a kernel…')
      : trans.__('%1 of %2 cells…', at, most);
  }
  if (now.state === 'cancelled') {
    return trans.__('Cancelled.');
  }
  if (now.state === 'failed') {
    return now.words;
  }
  const [differs, failed] = [count('differs'), count('failed')];
  const skipped = count('skipped');
  if (differs + failed + skipped === 0) {
    return count('same') === 0
      ? trans.__('It runs from scratch. There were no outputs to compare.')
      : trans.__('It runs from scratch, with the same outputs.');
  }
  const parts = [
    failed && trans.__('%1 failed', failed),
    differs && trans._n('%1 differs', '%1 differ', differs),
    skipped && trans.__('%1 not run', skipped)
  ];
  const counts = parts.filter(Boolean).join(', ');
  const words = trans.__('Of %1 cells: %2.', most, counts);
  return now.words ? `${words} ${now.words}` : words;
}
