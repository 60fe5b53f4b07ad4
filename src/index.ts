export { default } from './plugins/plugin';
