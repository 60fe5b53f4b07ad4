export { default } from './plugins';
export { IToolRenderers } from './tokens';
export type { IToolCall, ToolRenderer } from './tokens';
