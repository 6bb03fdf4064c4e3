"""Says what one Python interpreter has; prints `name=value` lines. Imports nothing heavy."""
import os
import sys
import sysconfig


def say(name, value):
    if value is not None:
        print(name + "=" + str(value).replace("\n", " "))


def libraries():
    """Places where this interpreter's shared library may lie, likeliest first."""
    var = sysconfig.get_config_var
    short = "%d%d" % sys.version_info[:2]
    if sys.platform == "win32":
        for root in (sys.base_prefix, os.path.dirname(getattr(sys, "_base_executable", sys.executable))):
            yield os.path.join(root, "python" + short + ".dll")
        return
    if var("PYTHONFRAMEWORK"):
        yield os.path.join(var("PYTHONFRAMEWORKPREFIX") or "", var("INSTSONAME") or "")
    folders = [var("LIBDIR"), os.path.join(sys.base_prefix, "lib"), var("LIBPL")]
    if var("LIBDIR") and var("MULTIARCH"):
        folders.append(os.path.join(var("LIBDIR"), var("MULTIARCH")))
    for folder in folders:
        for name in (var("INSTSONAME"), var("LDLIBRARY")):
            if folder and name and not name.endswith(".a"):
                yield os.path.join(folder, name)


def version_of(package):
    # importlib.metadata takes longer to load than all else here.
    for folder in filter(None, sys.path):
        if os.path.isfile(os.path.join(folder, package, "__init__.py")):
            for name in os.listdir(folder):
                if name.startswith(package + "-") and name.endswith((".dist-info", ".egg-info")):
                    return name[len(package) + 1:-len(".dist-info")]
            break
    try:
        from importlib import metadata, util
        return metadata.version(package) if util.find_spec(package) else None
    except Exception:
        return None


say("version", "%d.%d.%d" % sys.version_info[:3])
say("executable", sys.executable)
say("bits", 64 if sys.maxsize > 2**32 else 32)
say("threads", "free" if sysconfig.get_config_var("Py_GIL_DISABLED") else "gil")
say("shared", sysconfig.get_config_var("Py_ENABLE_SHARED"))
say("soname", sysconfig.get_config_var("INSTSONAME"))
say("library", next((p for p in libraries() if os.path.isfile(p)), None))
for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
    say("site", site)
for package in ("jaxlib", "numpy", "ml_dtypes"):
    say(package, version_of(package))
