export { default } from './plugins';
export { ICodeInterpreter, ISlashCommands, IToolRenderers } from './tokens';
export type {
  ISessionEvent,
  ISlashCommand,
  IToolCall,
  ToolRenderer
} from './tokens';
export type { Event, SessionInfo } from './protocol/protocol';
