// The table of contents of the API: one line for each collection.
export { agents } from './agents.ts';
export { applications } from './applications.ts';
export { auth } from './auth.ts';
export { certificates } from './certificates.ts';
export { dictionaries } from './dictionaries.ts';
export { files } from './files.ts';
export { groups } from './groups.ts';
export { macs } from './macs.ts';
export { meta } from './meta.ts';
export { networks } from './networks.ts';
export { notifications } from './notifications.ts';
export { projects } from './projects.ts';
export { settings } from './settings.ts';
export { taskTemplates } from './task-templates.ts';
export { tasks } from './tasks.ts';
export { tunnels } from './tunnels.ts';
export { users } from './users.ts';
