import { createContext } from 'react';

/** Whether fields stand side by side where there is room, as in the editor of a task. */
export const Dense = createContext(false);
