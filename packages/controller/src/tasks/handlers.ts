import type { api } from '@rushhour/contract';
import type { Handlers } from '../handler.ts';
import { validateHandlers } from './check/validate.ts';
import { dumpHandlers } from './dumps.ts';
import { pluginHandlers } from './plugins/plugins.ts';
import { fromTemplateHandlers } from './records/from-template.ts';
import { taskRecordHandlers } from './records/records.ts';
import { reportHandlers } from './report.ts';
import { runControlHandlers } from './run-control.ts';
import { runResultHandlers } from './run-results.ts';
import { scheduleHandlers } from './schedules.ts';
import { transferHandlers } from './transfer.ts';

type Needs<Factory extends (deps: never) => unknown> = Parameters<Factory>[0];

type Deps = Needs<typeof dumpHandlers> &
  Needs<typeof fromTemplateHandlers> &
  Needs<typeof pluginHandlers> &
  Needs<typeof reportHandlers> &
  Needs<typeof runControlHandlers> &
  Needs<typeof runResultHandlers> &
  Needs<typeof scheduleHandlers> &
  Needs<typeof taskRecordHandlers> &
  Needs<typeof transferHandlers> &
  Needs<typeof validateHandlers>;

export const taskHandlers = (deps: Deps): Handlers<typeof api.tasks> => ({
  ...taskRecordHandlers(deps),
  ...fromTemplateHandlers(deps),
  ...pluginHandlers(deps),
  ...validateHandlers(deps),
  ...runControlHandlers(deps),
  ...scheduleHandlers(deps),
  ...runResultHandlers(deps),
  ...dumpHandlers(deps),
  ...reportHandlers(deps),
  ...transferHandlers(deps),
});
