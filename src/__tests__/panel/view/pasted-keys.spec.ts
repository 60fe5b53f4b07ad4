import { keyIn } from '../../../panel/view/pasted-keys';
import { StoredTexts } from '../../../panel/store/stored-texts';

const KEY = 'sk-ant-api03-Zq7Tr4Wm9KxPv2Bn8Lc';

it.each([
  [`my key is ${KEY}, is it good?`, KEY, ['anthropic']],
  [
    '  0123456789abcdef0123456789abcdef\n',
    '0123456789abcdef0123456789abcdef',
    ['mistral', 'azure-openai', 'foundry']
  ],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nMII',
    '-----BEGIN RSA PRIVATE KEY-----',
    []
  ]
])('%j holds a key', (text, key, providers) => {
  expect(keyIn(text)).toEqual({ key, providers });
});

it.each(['', 'Plot it', 'sk-ant-…', 'digest 0123456789abcdef0123456789abcdef'])(
  '%j holds none',
  text => expect(keyIn(text)).toBeNull()
);

it('a text with a key is not stored, and takes the place of what was', () => {
  const texts = new StoredTexts();
  texts.set('a.ipynb', 'sk-ant');
  texts.flush();
  texts.set('a.ipynb', `use ${KEY}`);
  texts.flush();
  expect(JSON.stringify({ ...localStorage })).not.toContain('sk-ant');
});
