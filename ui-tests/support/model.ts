import type { APIRequestContext } from '@playwright/test';
export class FakeModel {
  constructor(private readonly _request: APIRequestContext) {}
  async reset(): Promise<void> {}
}
