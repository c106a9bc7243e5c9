import { createTheme, Modal } from '@mantine/core';
import { text } from '../lib/text.ts';

/** One calm blue for what can be done, orange for traffic; the rest is grey. */
export const theme = createTheme({
  primaryColor: 'indigo',
  // Dark enough for white letters on every button.
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  cursorType: 'pointer',
  autoContrast: true,
  components: {
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': text.app.close } } }),
    // What can be scrolled can be reached without a mouse.
    TableScrollContainer: { defaultProps: { type: 'native', tabIndex: 0 } },
  },
});
