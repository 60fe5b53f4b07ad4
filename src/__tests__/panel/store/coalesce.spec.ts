import { coalesce } from '../../../panel/store/coalesce';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('coalesce', () => {
  it('calls once a frame, and again with the next', () => {
    const notify = jest.fn();
    const touch = coalesce(notify);
    touch();
    touch();
    expect(notify).not.toHaveBeenCalled();
    jest.advanceTimersByTime(17);
    expect(notify).toHaveBeenCalledTimes(1);
    touch();
    jest.advanceTimersByTime(200);
    expect(notify).toHaveBeenCalledTimes(2);
  });

  it('calls in a hidden tab, where no frames are drawn', () => {
    jest.spyOn(window, 'requestAnimationFrame').mockReturnValue(0);
    const notify = jest.fn();
    coalesce(notify)();
    jest.advanceTimersByTime(100);
    expect(notify).toHaveBeenCalledTimes(1);
  });
});
