/** What stands under a draft cell: the diff of an edit, notices, and the buttons. */
import type { IEditorServices } from '@jupyterlab/codeeditor';
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
import { Panel } from '@lumino/widgets';
import React from 'react';
import { DiffView } from './diff';
import type { Proposal } from './proposal';
import type { IDraftView } from './tokens';

export type Decide = (
  draftId: string,
  action: 'run' | 'reject',
  runAll?: boolean
) => void;

export interface IBarOptions {
  readonly draft: IDraftView;
  /** Whether saying yes runs code; a Markdown cell is accepted. */
  readonly runs: boolean;
  readonly decide: Decide;
  readonly proposal: Proposal | null;
  readonly editors: IEditorServices;
  readonly trans: TranslationBundle;
  /** The type of the code, for its colours. */
  readonly mimeType: string;
}

export class DraftBar extends Panel {
  constructor(options: IBarOptions) {
    super();
    const { draft, trans, proposal } = options;
    this.draftId = draft.draft_id;
    this.addClass('jp-codeinterp-bar');
    this.node.setAttribute('role', 'group');
    const label = trans.__('Review cell: %1', draft.title);
    this.node.setAttribute('aria-label', label);
    if (proposal) {
      this._diff = new DiffView({
        original: draft.old_source,
        model: proposal.model,
        editors: options.editors,
        label: trans.__('Proposed change')
      });
      this.addWidget(this._diff);
    }
    this._options = options;
    this._controls = new Controls(options);
    this.addWidget(this._controls);
    this.draw(draft, options.mimeType);
  }

  readonly draftId: string;

  get state(): IDraftView['state'] {
    return this._controls.draft.state;
  }

  /** Draw the draft as it is now. */
  draw(draft: IDraftView, mimeType: string): void {
    const { proposal } = this._options;
    if (proposal && proposal.model.mimeType !== mimeType) {
      proposal.model.mimeType = mimeType;
    }
    if (this._diff) {
      this._diff.readOnly = draft.state !== 'waiting';
    }
    this._controls.draft = draft;
  }

  private readonly _options: IBarOptions;
  private readonly _diff: DiffView | null = null;
  private readonly _controls: Controls;
}

class Controls extends ReactWidget {
  constructor(private readonly _options: IBarOptions) {
    super();
    this.addClass('jp-codeinterp-controls');
    this._draft = _options.draft;
  }

  get draft(): IDraftView {
    return this._draft;
  }

  set draft(draft: IDraftView) {
    if (draft !== this._draft) {
      this._draft = draft;
      this.update();
    }
  }

  protected render(): JSX.Element {
    return (
      <>
        {this._draft.notices.map(notice => (
          <div key={notice} className="jp-codeinterp-notice" role="note">
            {notice}
          </div>
        ))}
        <div className="jp-codeinterp-buttons">{this._buttons()}</div>
      </>
    );
  }

  private _buttons(): JSX.Element {
    const { trans } = this._options;
    const draft = this._draft;
    if (draft.state === 'writing') {
      const writing = trans.__('Writing…');
      return <span className="jp-codeinterp-writing">{writing}</span>;
    }
    if (draft.kind === 'delete') {
      return (
        <>
          <span>{trans.__('Delete this cell?')}</span>
          {this._button(deleteIcon, trans.__('Delete'), 'run')}
          {this._button(closeIcon, trans.__('Keep'), 'reject')}
        </>
      );
    }
    const yes = this._options.runs
      ? this._button(runIcon, trans.__('Run'), 'run', 'Shift+Enter')
      : this._button(checkIcon, trans.__('Accept'), 'run', 'Shift+Enter');
    return (
      <>
        {yes}
        {this._button(closeIcon, trans.__('Reject'), 'reject')}
        {draft.can_run_all && this._runAll()}
      </>
    );
  }

  private _runAll(): JSX.Element {
    const { trans } = this._options;
    return (
      <Button
        icon={fastForwardIcon}
        label={trans.__('Run all in this turn')}
        title={trans.__(
          'Run this cell and the rest of the turn without asking'
        )}
        disabled={this._draft.state !== 'waiting'}
        onClick={() => this._decide('run', true)}
      />
    );
  }

  private _button(
    icon: LabIcon,
    label: string,
    action: 'run' | 'reject',
    keys = ''
  ): JSX.Element {
    return (
      <Button
        icon={icon}
        label={label}
        title={keys ? `${label} (${keys})` : label}
        primary={action === 'run'}
        disabled={this._draft.state !== 'waiting'}
        onClick={() => this._decide(action)}
      />
    );
  }

  private _decide(action: 'run' | 'reject', runAll?: boolean): void {
    this._options.decide(this._draft.draft_id, action, runAll);
  }

  private _draft: IDraftView;
}

function Button(props: {
  icon: LabIcon;
  label: string;
  title: string;
  disabled: boolean;
  primary?: boolean;
  onClick: () => void;
}): JSX.Element {
  return (
    <button
      className="jp-codeinterp-button"
      title={props.title}
      aria-label={props.label}
      disabled={props.disabled}
      onClick={props.onClick}
      data-primary={props.primary || undefined}
      // Without it, `d d` with the focus here would delete the cell.
      data-lm-suppress-shortcuts="true"
    >
      <props.icon.react tag="span" className="jp-codeinterp-icon" />
      {props.label}
    </button>
  );
}
