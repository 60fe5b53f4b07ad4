/** The panel's icon: a cell's brackets around a run triangle. */
import { LabIcon } from '@jupyterlab/ui-components';

export const codeInterpreterIcon = new LabIcon({
  name: 'codeinterp:panel',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16">
  <g class="jp-icon3" fill="#616161">
    <path d="M1.5 2h4v1.5H3v9h2.5V14h-4zM14.5 2h-4v1.5H13v9h-2.5V14h4z"/>
    <path d="M6 4.9v6.2a.4.4 0 0 0 .6.34l4.9-3.1a.4.4 0 0 0 0-.68l-4.9-3.1A.4.4 0 0 0 6 4.9z"/>
  </g>
</svg>`
});
