import React from 'react';
import { Button } from './Button';
import { PanelContext } from './context';

/**
 * Error boundary: if one part of the panel fails, the rest stays. `name` is for the console;
 * `instead` is shown beside the words.
 */
export class Boundary extends React.Component<
  React.PropsWithChildren<{ name: string; instead?: React.ReactNode }>,
  { failed: boolean }
> {
  static contextType = PanelContext;
  declare context: React.ContextType<typeof PanelContext>;
  state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  componentDidCatch(error: unknown): void {
    console.error(`The ${this.props.name} cannot be shown`, error);
  }

  render(): React.ReactNode {
    if (!this.state.failed) {
      return this.props.children;
    }
    const trans = this.context!.trans;
    return (
      <div className="jp-codeinterp-Note" data-level="error" role="alert">
        <span>{trans.__('Couldn’t show this part. Nothing is lost.')}</span>
        <Button look="link" onClick={() => this.setState({ failed: false })}>
          {trans.__('Show again')}
        </Button>
        {this.props.instead}
      </div>
    );
  }
}
