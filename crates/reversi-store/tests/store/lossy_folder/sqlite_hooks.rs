//! Hooks into SQLite's accesses to files: a VFS that is the system's, but for the files of [`LossyFolder`]s tells the
//! folder of each access first.
//!
//! Only this file of the tests has `unsafe`. Crates that make a VFS of safe Rust do not fit: `sqlite-plugin` is built
//! with libclang, which most machines lack, and `sqlite-vfs` copies the shared memory of a write-ahead log instead of
//! sharing it. Here SQLite's own VFS does the work: its table of methods is copied, and a few methods are replaced.
#![expect(unsafe_code, reason = "SQLite calls a VFS through pointers")]

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_int, c_void},
    path::Path,
    ptr, slice,
    sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak},
};

use rusqlite::ffi;

use super::{Access, LossyFolder, PowerOff};

static FOLDERS: Mutex<Vec<Weak<LossyFolder>>> = Mutex::new(Vec::new());

/// The open files of those folders, by the address of SQLite's structure.
static FILES: OnceLock<Mutex<HashMap<usize, HookedFile>>> = OnceLock::new();

/// The system's VFS.
static SYSTEM: OnceLock<SystemVfs> = OnceLock::new();

/// The function by which it opens files.
static SYSTEM_OPEN: OnceLock<OpenCall> = OnceLock::new();

type OpenCall = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;

struct SystemVfs(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite never changes or frees a registered VFS, and calls it from any thread.
unsafe impl Send for SystemVfs {}
// SAFETY: as above.
unsafe impl Sync for SystemVfs {}

#[derive(Clone)]
struct HookedFile {
    folder: Arc<LossyFolder>,
    name: String,
    /// The methods of the system's VFS.
    system: ffi::sqlite3_io_methods,
}

/// Hooks the files of a folder.
pub(crate) fn add(folder: &Arc<LossyFolder>) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(register);
    let mut folders = lock(&FOLDERS);
    folders.retain(|folder| folder.strong_count() > 0);
    folders.push(Arc::downgrade(folder));
}

/// Makes this VFS the default. Other files than those of the folders are not affected.
fn register() {
    // SAFETY: both functions may be called at any time. The pointer is that of a registered VFS, which stays valid; its
    // copy and the name are never freed.
    unsafe {
        let system = ffi::sqlite3_vfs_find(ptr::null());
        SYSTEM.get_or_init(|| SystemVfs(system));
        let hooked = ffi::sqlite3_vfs {
            zName: c"lossy".as_ptr(),
            pNext: ptr::null_mut(),
            xOpen: Some(open),
            xDelete: Some(delete),
            ..*system
        };
        assert_eq!(ffi::sqlite3_vfs_register(Box::into_raw(Box::new(hooked)), 1), ffi::SQLITE_OK);
        // The index of a log is opened by no method of the VFS.
        let name = c"open".as_ptr();
        let call = (*system).xGetSystemCall.and_then(|get| get(system, name)).expect("SQLite for a UNIX");
        SYSTEM_OPEN.get_or_init(|| std::mem::transmute::<unsafe extern "C" fn(), OpenCall>(call));
        let hook = std::mem::transmute::<OpenCall, unsafe extern "C" fn()>(open_call);
        assert_eq!((*system).xSetSystemCall.map(|set| set(system, name, Some(hook))), Some(ffi::SQLITE_OK));
    }
}

/// Opens a file by the system, unless it is to be written on a read-only disk.
unsafe extern "C" fn open_call(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    /// Read, write, or both; read alone is 0.
    const ACCESS: c_int = 3;
    // SAFETY: SQLite's arguments, for the function of the system's VFS.
    unsafe {
        if flags & ACCESS != 0 && find_folder(path).is_some_and(|(folder, _)| folder.is_read_only()) {
            // Sets the error of the thread: SQLite retries after some.
            let _ = std::fs::File::open("/no such file");
            return -1;
        }
        SYSTEM_OPEN.get().map_or(-1, |open| open(path, flags, mode))
    }
}

fn system() -> *mut ffi::sqlite3_vfs {
    SYSTEM.get().map_or(ptr::null_mut(), |system| system.0)
}

/// The folder of a file, and the name of the file in it.
///
/// # Safety
/// The path is null or a C string.
unsafe fn find_folder(path: *const c_char) -> Option<(Arc<LossyFolder>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    let path = Path::new(&*path);
    let folder = lock(&FOLDERS).iter().filter_map(Weak::upgrade).find(|folder| path.parent() == Some(folder.path()))?;
    Some((folder, path.file_name()?.to_string_lossy().into_owned()))
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's arguments are valid, and `file` has room for a file of the system's VFS, since this VFS is a
    // copy. After a successful open its methods are set, and stay valid.
    unsafe {
        let found = find_folder(path);
        if let Some((folder, name)) = &found
            && folder.access(name, Access::Open).is_err()
        {
            (*file).pMethods = ptr::null();
            return ffi::SQLITE_CANTOPEN;
        }
        let Some(system_open) = (*system()).xOpen else { return ffi::SQLITE_ERROR };
        let result = system_open(system(), path, file, flags, out_flags);
        if let Some((folder, name)) = found
            && result == ffi::SQLITE_OK
        {
            let system = *(*file).pMethods;
            lock(files()).insert(file.addr(), HookedFile { folder, name, system });
            (*file).pMethods = hooked_methods(system);
        }
        result
    }
}

/// The methods of all hooked files, which are on one file system: those of the system, but for five, and without
/// mapping files into memory.
fn hooked_methods(system: ffi::sqlite3_io_methods) -> *const ffi::sqlite3_io_methods {
    static METHODS: OnceLock<ffi::sqlite3_io_methods> = OnceLock::new();
    METHODS.get_or_init(|| ffi::sqlite3_io_methods {
        iVersion: 2,
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync),
        ..system
    })
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: SQLite's arguments are valid.
    unsafe {
        if let Some((folder, name)) = find_folder(path)
            && folder.access(&name, Access::Delete { synced: sync_folder != 0 }).is_err()
        {
            return ffi::SQLITE_IOERR_DELETE;
        }
        let Some(system_delete) = (*system()).xDelete else { return ffi::SQLITE_ERROR };
        system_delete(system(), path, 0)
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let hooked = lock(files()).remove(&file.addr());
    // SAFETY: the file is open, and its methods are the system's.
    hooked.and_then(|hooked| hooked.system.xClose).map_or(ffi::SQLITE_ERROR, |close| unsafe { close(file) })
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, bytes: *mut c_void, len: c_int, offset: i64) -> c_int {
    let hooked = lock(files()).get(&file.addr()).cloned();
    let Some(hooked) = hooked.filter(|hooked| hooked.folder.can_read(&hooked.name, offset)) else {
        return ffi::SQLITE_IOERR_READ;
    };
    // SAFETY: SQLite's arguments, for a file of the system's VFS.
    hooked.system.xRead.map_or(ffi::SQLITE_ERROR, |read| unsafe { read(file, bytes, len, offset) })
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, bytes: *const c_void, len: c_int, offset: i64) -> c_int {
    let (Ok(count), Ok(at)) = (usize::try_from(len), usize::try_from(offset)) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: SQLite passes this many bytes.
    let written = unsafe { slice::from_raw_parts(bytes.cast(), count) };
    let hooked = tell(file, Access::Write { offset: at, bytes: written });
    let Some(write) = hooked.and_then(|system| system.xWrite) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: SQLite's arguments, for a file of the system's VFS.
    unsafe { write(file, bytes, len, offset) }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, len: i64) -> c_int {
    let Ok(size) = usize::try_from(len) else { return ffi::SQLITE_IOERR_TRUNCATE };
    let hooked = tell(file, Access::Truncate { len: size });
    let Some(truncate) = hooked.and_then(|system| system.xTruncate) else { return ffi::SQLITE_IOERR_TRUNCATE };
    // SAFETY: SQLite's arguments, for a file of the system's VFS.
    unsafe { truncate(file, len) }
}

/// Does not sync the real file, which takes long and has no use here.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    tell(file, Access::Sync).map_or(ffi::SQLITE_IOERR_FSYNC, |_| ffi::SQLITE_OK)
}

/// Tells the folder of an access. Returns the methods of the system's VFS, or none if the power is off.
fn tell(file: *mut ffi::sqlite3_file, access: Access<'_>) -> Option<ffi::sqlite3_io_methods> {
    // Not locked during the access, which may wait.
    let hooked = lock(files()).get(&file.addr()).cloned()?;
    match hooked.folder.access(&hooked.name, access) {
        Ok(()) => Some(hooked.system),
        Err(PowerOff) => None,
    }
}

fn files() -> &'static Mutex<HashMap<usize, HookedFile>> {
    FILES.get_or_init(Mutex::default)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
