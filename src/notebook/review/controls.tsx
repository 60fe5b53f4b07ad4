/** Notices and buttons in the bar under a draft. */
import type { TranslationBundle } from '@jupyterlab/translation';
import {
  LabIcon,
  ReactWidget,
  checkIcon,
  closeIcon,
  deleteIcon,
  fastForwardIcon,
  runIcon
} from '@jupyterlab/ui-components';
import React from 'react';
import type { IDraftView } from '../../tokens';
import { Words } from '../../words';
import { useSure } from './press';

interface IControlsState {
  readonly draft: IDraftView;
  /** Whether the last run key came too early. */
  readonly early: boolean;
}

interface IControlsOptions {
  readonly trans: TranslationBundle;
  readonly decide: (action: 'run' | 'reject', runAll?: boolean) => void;
}

export class Controls extends ReactWidget {
  constructor(
    private readonly _options: IControlsOptions,
    private _state: IControlsState
  ) {
    super();
    this.addClass('jp-codeinterp-controls');
  }

  get state(): IControlsState {
    return this._state;
  }

  set state(state: IControlsState) {
    if (differs(state, this._state)) {
      this._state = state;
      this.update();
    }
  }

  protected render(): JSX.Element {
    const { draft, early } = this._state;
    const { trans } = this._options;
    const waits = draft.state !== 'writing';
    return (
      <>
        {draft.notices.map(notice => (
          <div key={notice} className="jp-codeinterp-notice" role="note">
            <Words>{notice}</Words>
          </div>
        ))}
        <div className="jp-codeinterp-buttons">
          {waits ? (
            <Buttons {...this._options} {...this._state} />
          ) : (
            <span className="jp-codeinterp-writing">
              {trans.__('Writing…')}
            </span>
          )}
        </div>
        <div className="jp-codeinterp-hint" role="status">
          {draft.state === 'waiting' && early && pressIgnored(trans)}
        </div>
        <div role="alert">{draft.failure}</div>
      </>
    );
  }
}

/** Whether to draw again. */
function differs(one: IControlsState, other: IControlsState): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}

/** What "Run all in this turn" covers. */
export function coversAll(trans: TranslationBundle): string {
  return trans.__(
    'Run this cell, and later code of this turn, without asking. Changes to your own cells, installs and the kernel still ask.'
  );
}

/** The message after a press that came too early. */
export function pressIgnored(trans: TranslationBundle): string {
  return trans.__('Read it first, then press again.');
}

function Buttons(props: IControlsOptions & IControlsState): JSX.Element {
  const { decide, draft, trans } = props;
  const question = `${draft.draft_id} ${draft.nonce}`;
  const [refused, setRefused] = React.useState('');
  const refuse = () => setRefused(question);
  const deletes = draft.kind === 'delete';
  const waiting = draft.state === 'waiting';
  const [icon, label] = deletes
    ? [deleteIcon, trans.__('Delete')]
    : draft.runs
      ? [runIcon, trans.__('Run')]
      : [checkIcon, trans.__('Accept')];
  return (
    <>
      {deletes && <span>{trans.__('Delete this cell?')}</span>}
      <SureButton
        icon={icon}
        label={label}
        title={deletes ? label : `${label} (Shift+Enter)`}
        primary
        question={question}
        disabled={!waiting}
        onClick={() => decide('run')}
        refused={refuse}
      />
      <Button
        icon={closeIcon}
        label={deletes ? trans.__('Keep') : trans.__('Reject')}
        disabled={!waiting}
        onClick={() => decide('reject')}
      />
      {draft.can_run_all && !deletes && (
        <SureButton
          icon={fastForwardIcon}
          label={trans.__('Run all in this turn')}
          title={coversAll(trans)}
          question={question}
          disabled={!waiting}
          onClick={() => decide('run', true)}
          refused={refuse}
        />
      )}
      <span className="jp-codeinterp-hint" role="status">
        {waiting && refused === question && pressIgnored(trans)}
      </span>
    </>
  );
}

interface IButton {
  icon?: LabIcon;
  label: string;
  title?: string;
  disabled?: boolean;
  primary?: boolean;
  onClick: () => void;
}

function SureButton(
  props: IButton & { question: string; refused: () => void }
): JSX.Element {
  const { question, onClick, refused, ...rest } = props;
  const sure = useSure(question, onClick, refused);
  return <Button {...rest} {...sure} buttonRef={sure.ref} />;
}

function Button(
  props: IButton & {
    'aria-disabled'?: boolean;
    buttonRef?: React.RefObject<HTMLButtonElement>;
  }
): JSX.Element {
  const { icon, label, title, disabled, primary } = props;
  return (
    <button
      ref={props.buttonRef}
      className="jp-codeinterp-button"
      title={title ?? label}
      aria-label={label}
      aria-disabled={props['aria-disabled']}
      disabled={disabled}
      onClick={props.onClick}
      data-primary={primary || undefined}
      data-icon={!!icon || undefined}
      // Otherwise `d d` with the focus here would delete the cell.
      data-lm-suppress-shortcuts="true"
    >
      {icon && <icon.react tag="span" className="jp-codeinterp-icon" />}
      {label}
    </button>
  );
}
