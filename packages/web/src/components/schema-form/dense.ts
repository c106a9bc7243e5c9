import { createContext } from 'react';

/** Whether fields are laid out side by side, as in the task editor. */
export const Dense = createContext(false);
