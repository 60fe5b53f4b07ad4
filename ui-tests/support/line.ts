/** The page's connection to the agent, in the test's hands. */
import type { Page, WebSocketRoute } from '@playwright/test';

export interface ILine {
  /** Cut the connection; the page finds none again until `restore`. */
  cut(): Promise<void>;
  restore(): void;
}

/** To be called before the page is opened. */
export async function line(page: Page): Promise<ILine> {
  const open: WebSocketRoute[] = [];
  let down = false;
  await page.routeWebSocket(/\/codeinterp\/api\/channel/, async socket => {
    if (down) {
      await socket.close();
    } else {
      socket.connectToServer();
      open.push(socket);
    }
  });
  return {
    cut: async () => {
      down = true;
      await Promise.all(open.map(socket => socket.close()));
    },
    restore: () => {
      down = false;
    }
  };
}
