import { collection } from '../route.ts';
import { taskRecordRoutes } from './task-records.ts';
import { runControlRoutes } from './task-run-control.ts';
import { runResultRoutes } from './task-run-results.ts';
import { scheduleRoutes } from './task-schedules.ts';
import { transferRoutes } from './task-transfer-routes.ts';

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
