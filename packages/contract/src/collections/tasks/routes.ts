import { collection } from '../../route.ts';
import { taskRecordRoutes } from './records.ts';
import { runControlRoutes } from './run-control.ts';
import { runResultRoutes } from './run-results.ts';
import { scheduleRoutes } from './schedules.ts';
import { transferRoutes } from './transfer.ts';

export const tasks = collection({
  tag: 'tasks',
  title: 'Tasks',
  routes: {
    ...taskRecordRoutes,
    ...runControlRoutes,
    ...scheduleRoutes,
    ...runResultRoutes,
    ...transferRoutes,
  },
});
