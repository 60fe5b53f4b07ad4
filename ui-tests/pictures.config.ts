/** Makes the pictures of the README. Not part of the tests. */
import config from './playwright.config';

export default { ...config, testDir: 'pictures' };
