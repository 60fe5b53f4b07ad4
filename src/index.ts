export { default } from './plugins';
export { ICodeInterpreter, IToolRenderers } from './tokens';
export type { ISessionEvent, IToolCall, ToolRenderer } from './tokens';
export type { Event, SessionInfo } from './protocol/protocol';
