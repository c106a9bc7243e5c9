import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';
import { fromTemplateHandlers } from './from-template.ts';
import { pluginHandlers } from './plugins.ts';
import { taskRecordHandlers } from './records.ts';
import { reportHandlers } from './report.ts';
import { runControlHandlers } from './run-control.ts';
import { runResultHandlers } from './run-results.ts';
import { scheduleHandlers } from './schedules.ts';
import { transferHandlers } from './transfer.ts';
import { validateHandlers } from './validate.ts';

export const taskHandlers = (services: Services): Handlers<typeof api.tasks> => ({
  ...taskRecordHandlers(services),
  ...fromTemplateHandlers(services),
  ...pluginHandlers(services),
  ...validateHandlers(services),
  ...runControlHandlers(services),
  ...scheduleHandlers(services),
  ...runResultHandlers(services),
  ...reportHandlers(services),
  ...transferHandlers(services),
});
