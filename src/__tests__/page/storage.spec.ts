import { keptInBrowser, keptInTab, listIn } from '../../storage';

const areas = { localStorage: keptInBrowser, sessionStorage: keptInTab };

describe.each(['localStorage', 'sessionStorage'] as const)('%s', name => {
  const kept = areas[name];
  const real = window[name];

  afterEach(() => {
    Object.defineProperty(window, name, { value: real, configurable: true });
    real.clear();
  });

  it('has what was stored', () => {
    kept.set('a', 'one');
    expect(real.getItem('a')).toBe('one');
    expect(kept.get('a')).toBe('one');
    kept.set('a', null);
    expect(kept.get('a')).toBeNull();
  });

  it('that is blocked keeps values as long as the page', () => {
    Object.defineProperty(window, name, {
      configurable: true,
      get: () => {
        throw new DOMException('blocked', 'SecurityError');
      }
    });
    expect(kept.get('b')).toBeNull();
    kept.set('b', 'two');
    expect(kept.get('b')).toBe('two');
    kept.set('b', null);
    expect(kept.get('b')).toBeNull();
  });

  it('that is full keeps the new value as long as the page', () => {
    kept.set('c', 'old');
    const full = jest.spyOn(Storage.prototype, 'setItem');
    full.mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    kept.set('c', 'new');
    full.mockRestore();
    expect(kept.get('c')).toBe('new');
    kept.set('c', 'newest');
    expect(kept.get('c')).toBe('newest');
    expect(real.getItem('c')).toBe('newest');
  });
});

it.each([
  [null, []],
  ['', []],
  ['no JSON', []],
  ['{"a": 1}', []],
  ['[1, "a"]', [1, 'a']]
])('the list in %p is %p', (stored, list) => {
  expect(listIn(stored)).toEqual(list);
});
