export { type Config, readConfig } from './config.ts';
export { type Controller, startController } from './controller.ts';
