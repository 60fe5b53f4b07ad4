"""What calls reach, by their names. Names in full where another object has a method of that name,
else the last part alone, so that another name of the module changes nothing."""

from __future__ import annotations

CONVENTIONS = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "pl": "polars",
    "Path": "pathlib.Path",
    "tf": "tensorflow",
    "sns": "seaborn",
}
"""Names that an earlier cell has likely imported."""

_NETWORK = """
requests urllib.request urllib.urlopen urllib3 httpx aiohttp socket socketserver ssl http.client
http.server ftplib smtplib poplib imaplib nntplib telnetlib xmlrpc websocket websockets paramiko
fabric boto3 botocore s3fs gcsfs adlfs fsspec google.cloud azure openai anthropic yfinance pymongo
redis psycopg psycopg2 pymysql mysql oracledb pyodbc sqlalchemy clickhouse_connect snowflake kafka
pika huggingface_hub datasets wandb mlflow kaggle gspread tweepy praw selenium playwright scrapy
webbrowser dns ldap3 grpc zmq asyncio.open_connection asyncio.start_server
asyncio.open_unix_connection pandas_datareader
"""
_PROCESSES = """
subprocess pty multiprocessing pexpect sh plumbum invoke os.system os.popen os.fork os.forkpty
os.startfile os.kill os.killpg asyncio.create_subprocess_exec asyncio.create_subprocess_shell
concurrent.futures.ProcessPoolExecutor joblib.Parallel
"""
_UNREADABLE = """
eval exec compile __import__ globals locals vars breakpoint importlib runpy ctypes cffi marshal
code codeop builtins __builtins__ get_ipython IPython.get_ipython IPython.core sys.modules
sys.path sys.meta_path sys.settrace sys.setprofile sys._getframe types.FunctionType types.CodeType
gc pickle.load pickle.loads pickle.Unpickler dill cloudpickle joblib.load torch.load shelve
operator.attrgetter operator.methodcaller os.chdir os.fchdir pandas.eval pandas.read_pickle
timeit cProfile profile pdb rpy2 js pyodide
"""
_INSTALLS = "pip ensurepip micropip piplite conda"
_DELETES = "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree shutil.move"
_WRITES = """
os.mkdir os.makedirs os.mkfifo os.mknod os.rename os.renames os.replace os.link os.symlink os.chmod
os.chown os.truncate os.ftruncate os.utime os.open os.write os.pwrite shutil.copy shutil.copy2
shutil.copyfile shutil.copyfileobj shutil.copytree shutil.copymode shutil.copystat shutil.chown
shutil.make_archive shutil.unpack_archive numpy.save numpy.savez numpy.savez_compressed
numpy.savetxt tempfile sqlite3 dbm logging.FileHandler logging.basicConfig pathlib.Path().rename
pathlib.Path().replace
"""
MODULES = {
    name: kind
    for kind, names in (
        ("network", _NETWORK),
        ("processes", _PROCESSES),
        ("unreadable", _UNREADABLE),
        ("installs", _INSTALLS),
        ("deletes", _DELETES),
        ("writes", _WRITES),
    )
    for name in names.split()
}
"""Of whole names, and of all names that begin with one of them and a dot."""

_LAST = {
    "network": """urlopen urlretrieve create_connection sendall sendto from_pretrained to_gbq
        read_gbq load_dataset fetch_openml fetch_california_housing fetch_20newsgroups
        download snapshot_download hf_hub_download""",
    "processes": """popen Popen check_call check_output getoutput getstatusoutput execv execve
        execvp execvpe execl execle execlp spawnl spawnv spawnve spawnvp posix_spawn
        posix_spawnp""",
    "unreadable": """run_cell run_cell_magic run_line_magic safe_execfile ex eval import_module
        exec_module load_module read_pickle __globals__ __builtins__ __subclasses__ __mro__
        __bases__ __base__ __class__ __dict__ __code__ __getattribute__ __import__
        __loader__ __spec__ __reduce__ f_globals f_locals f_back gi_frame cr_frame tb_frame""",
    "deletes": "unlink rmdir rmtree removedirs send2trash",
    "writes": """savefig write_text write_bytes writestr touch mkdir makedirs symlink_to hardlink_to
        chmod tofile savez savez_compressed savetxt to_excel to_feather to_parquet to_orc to_hdf
        to_stata to_pickle to_sql to_clipboard to_netcdf to_zarr to_file to_disk write_csv
        write_parquet write_ipc write_json write_ndjson write_avro write_excel write_database
        write_delta write_image write_html write_video sink_csv sink_parquet sink_ipc sink_ndjson
        save save_model save_pretrained imwrite imsave write writelines writerow writerows
        extractall dump""",
}
LAST = {name: kind for kind, names in _LAST.items() for name in names.split()}
"""By the last part of a name."""

TEXTS = frozenset(
    ("to_csv", "to_json", "to_html", "to_latex", "to_xml", "to_markdown", "to_string")
)
"""Methods that write only where they get a place."""
_READS = """
    read_csv read_table read_fwf read_excel read_json read_parquet read_feather read_orc read_hdf
    read_stata read_sas read_spss read_xml read_html read_sql read_sql_query read_sql_table
    read_ipc read_ndjson read_avro read_delta read_file scan_csv scan_parquet scan_ipc scan_ndjson
    loadtxt genfromtxt fromfile memmap imread open_dataset open_mfdataset open_zarr listdir scandir
    ExcelFile
"""
READS = frozenset(_READS.split())
"""Calls whose first argument is a path, by the last part."""
_READS_IN_FULL = """
    numpy.load os.walk glob.glob glob.iglob linecache.getline fileinput.input h5py.File
    zipfile.ZipFile tarfile.open PIL.Image.open gzip.open bz2.open lzma.open io.open codecs.open
    open
"""
READS_IN_FULL = frozenset(_READS_IN_FULL.split())
OF_PATHS = frozenset(("read_text", "read_bytes", "iterdir", "rglob", "glob"))
"""Methods that read the path that they are called on."""
PATH_ARGUMENTS = ("filepath_or_buffer", "path_or_buf", "path", "io", "file", "filename", "fname")
PLAIN_MAGICS = frozenset(("matplotlib", "precision", "who", "whos", "pdoc", "pinfo", "pwd"))
"""Line magics that reach nothing."""
SHELL_CELLS = frozenset(
    ("bash", "sh", "script", "cmd", "sx", "system", "perl", "ruby", "pypy", "python", "python3")
)
