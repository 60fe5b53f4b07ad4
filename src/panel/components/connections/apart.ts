/** A group below the others. Here, because the style sheet is loaded at the page's start. */
export const APART = {
  marginTop: 8,
  paddingTop: 8,
  borderTop: '1px solid var(--jp-border-color2)'
};
