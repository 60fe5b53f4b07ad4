export { default } from './plugins';
