import type { api } from '@rushhour/contract';
import type { Handlers } from '../handler.ts';
import { validateHandlers } from './check/validate.ts';
import { dumpHandlers } from './dumps.ts';
import { pluginHandlers } from './plugins/plugins.ts';
import { fromTemplateHandlers } from './records/from-template.ts';
import { taskRecordHandlers } from './records/records.ts';
import { reportHandlers } from './report.ts';
import { runResultHandlers } from './results/handlers.ts';
import { runControlHandlers } from './run-control.ts';
import { scheduleHandlers } from './schedules.ts';
import { thresholdHandlers } from './thresholds.ts';
import { transferHandlers } from './transfer/handlers.ts';
import { tryHandlers } from './try-journey.ts';

type Needs<Factory extends (deps: never) => unknown> = Parameters<Factory>[0];

type Deps = Needs<typeof dumpHandlers> &
  Needs<typeof fromTemplateHandlers> &
  Needs<typeof pluginHandlers> &
  Needs<typeof reportHandlers> &
  Needs<typeof runControlHandlers> &
  Needs<typeof runResultHandlers> &
  Needs<typeof scheduleHandlers> &
  Needs<typeof taskRecordHandlers> &
  Needs<typeof thresholdHandlers> &
  Needs<typeof transferHandlers> &
  Needs<typeof tryHandlers> &
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
  ...thresholdHandlers(deps),
  ...transferHandlers(deps),
  ...tryHandlers(deps),
});
