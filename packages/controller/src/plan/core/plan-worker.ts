import { planRun } from './plan-run.ts';
import { servePlanning } from './plan-thread.ts';

servePlanning(planRun);
